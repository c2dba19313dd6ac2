import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { type Hex } from '../../src/lib/hex.ts';
import { type Anvil } from './anvil.ts';
import { compileInChild, type SolcVersion } from './compile-in-child.ts';

/** The chain that tests verify on. */
export const VERIFIED_CHAIN_ID = 424242;

/** A fullmatch.yaml with the chain of an anvil. */
export function configOf(anvil: Pick<Anvil, 'url'>, more = ''): string {
  return `
registry: { include: configured, defaults: false }
chains:
  ${VERIFIED_CHAIN_ID}:
    name: Test chain
    local: true
    rpc: [${anvil.url}]
${more}`;
}

/** A standard JSON input of a test. */
export interface TestInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A Solidity input with one source or several. */
export function inputOf(
  sources: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>> = {},
): TestInput {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([path, content]) => [path, { content }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['*'] } },
      ...settings,
    },
  };
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly metadata: string;
            readonly evm: { readonly bytecode: { readonly object: string } };
          }
        >
      >
    >
  >;
}

/** A contract compiled outside the service, as its developer did. */
export interface DevelopersContract {
  readonly creationCode: string;
  readonly metadata: string;
}

/**
 * Compiles with the solc of a version, in a child process.
 * @param root the source that the compiler is given alone, as a command line does; it asks for the others by their imports
 */
export async function compileAsDeveloper(
  version: SolcVersion,
  input: TestInput,
  path: string,
  name: string,
  root?: string,
): Promise<DevelopersContract> {
  const [output] = await compileInChild<Output>(version, [input], root);
  const contract = output?.contracts?.[path]?.[name];
  if (contract === undefined) {
    throw new Error(
      (output?.errors ?? []).map(({ formattedMessage }) => formattedMessage).join('\n'),
    );
  }
  return { creationCode: contract.evm.bytecode.object, metadata: contract.metadata };
}

/** Deploys creation code with encoded constructor arguments. */
export async function deploy(
  anvil: Anvil,
  creationCode: string,
  constructorArguments = '',
): Promise<{ readonly address: Hex; readonly transactionHash: Hex }> {
  const receipt = await anvil.send({ data: `0x${creationCode}${constructorArguments}` });
  if (receipt.contractAddress === null) throw new Error('nothing was created');
  return { address: receipt.contractAddress, transactionHash: receipt.transactionHash };
}

/** A job as GET /v2/verify/{id} says it. */
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

/** Folders of this machine, which no client is told. */
const FOLDERS = [process.cwd(), homedir(), path.join(tmpdir(), 'fullmatch-')].filter(
  (folder) => folder !== '/',
);

/** Asks for a job until it is complete, as clients do. However it ended, the answer names no folder of this machine. */
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
