import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { VERIFIED_CHAIN_ID } from './anvil.ts';

/** A job as returned by GET /v2/verify/{id}. */
export interface WireJob {
  readonly isJobCompleted: boolean;
  readonly verificationId: string;
  readonly jobStartTime: string;
  readonly jobFinishTime?: string;
  readonly compilationTime?: string;
  readonly error?: {
    readonly customCode: string;
    readonly message: string;
    readonly errorId: string;
    readonly errorData?: Readonly<Record<string, unknown>>;
    readonly recompiledRuntimeCode?: string;
    readonly onchainRuntimeCode?: string;
    readonly creationTransactionHash?: string;
  };
  readonly changedSettings?: Readonly<Record<string, unknown>>;
  readonly contract: {
    readonly match: string | null;
    readonly runtimeMatch: string | null;
    readonly creationMatch: string | null;
    readonly chainId: string;
    readonly address: string;
    readonly matchId?: string;
    readonly verifiedAt?: string;
  };
}

/** Sends JSON. */
export function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const JOB_TIMEOUT_MS = 150_000;

/** Folders of this machine, which must not be exposed to clients. */
const FOLDERS = [process.cwd(), homedir(), path.join(tmpdir(), 'fullmatch-')].filter(
  (folder) => folder !== '/',
);

/** Polls a job until it is complete, like a client. Expects that its response names no folder of this machine. */
export async function pollJob(apiUrl: string, id: string): Promise<WireJob> {
  const deadline = Date.now() + JOB_TIMEOUT_MS;
  for (;;) {
    const response = await fetch(`${apiUrl}/v2/verify/${id}`);
    if (response.status !== 200) throw new Error(`the job is answered ${response.status}`);
    const text = await response.text();
    const job = JSON.parse(text) as WireJob;
    const named = FOLDERS.find((folder) => text.includes(folder));
    if (named !== undefined) throw new Error(`the job ${id} names ${named}: ${text}`);
    if (job.isJobCompleted) return job;
    if (Date.now() > deadline) throw new Error(`the job ${id} does not end`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Submits a verification and waits for its end. */
export async function verifyOverV2(
  apiUrl: string,
  address: string,
  body: unknown,
  chainId = VERIFIED_CHAIN_ID,
): Promise<WireJob> {
  const response = await post(`${apiUrl}/v2/verify/${chainId}/${address}`, body);
  const text = await response.text();
  if (response.status !== 202) throw new Error(`answered ${response.status}: ${text}`);
  const { verificationId } = JSON.parse(text) as { verificationId: string };
  return pollJob(apiUrl, verificationId);
}
