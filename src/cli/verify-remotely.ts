import { setTimeout as wait } from 'node:timers/promises';
import { asFullmatchError, FullmatchError } from '../errors.ts';
import { hostPortOf } from '../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Hex } from '../lib/hex.ts';
import { isMembers, type Members } from '../lib/members.ts';
import type { Match } from '../repository/repository.ts';
import { failureKindOf } from '../verification/verification-failure.ts';
import { type DroppedSources } from '../verification/jobs/verification-job.ts';
import { type VerificationRequest } from '../verification/verification-request.ts';
import { type VerificationOutcome } from './verification-outcome.ts';

const POLL_MS = 500;
const DEADLINE_MS = 60_000;
const MAX_BYTES = 16_000_000;
const MATCHES: Readonly<Record<string, Match>> = { exact_match: 'full', match: 'partial' };

/** A running service, over its verification API v2. */
export class RemoteService {
  readonly #base: string;
  readonly #fetch: GuardedFetch;

  constructor(url: string) {
    this.#base = url.replace(/\/+$/, '');
    if (!URL.canParse(this.#base)) {
      throw new FullmatchError(
        'invalid_parameter',
        '--url is not a URL, such as http://localhost:5555.',
      );
    }
    this.#fetch = createGuardedFetch({
      // The user names the service by hand: it may be on this machine.
      allowPrivate: [hostPortOf(new URL(this.#base))],
      maxBytes: MAX_BYTES,
      deadlineMs: DEADLINE_MS,
      maxRedirects: 0,
      userAgent: 'fullmatch',
    });
  }

  /** The id of a chain by any reference. */
  async findChainId(ref: string): Promise<number> {
    if (/^[1-9]\d*$/.test(ref)) return Number(ref);
    const chain = await this.#ask(`/chains/${encodeURIComponent(ref)}`);
    return Number(chain['chainId']);
  }

  /** @returns the job's id */
  async submit({ chainId, address, ...request }: VerificationRequest): Promise<string> {
    const { compilation, creationTransactionHash } = request;
    const isMetadata = compilation.kind === 'metadata';
    const body = isMetadata
      ? { metadata: compilation.metadata, sources: compilation.sources }
      : {
          stdJsonInput: compilation.input,
          compilerVersion: compilation.compilerVersion,
          contractIdentifier: compilation.contractIdentifier,
        };
    const route = isMetadata ? '/v2/verify/metadata' : '/v2/verify';
    const answer = await this.#ask(`${route}/${chainId}/${address}`, {
      ...body,
      ...(creationTransactionHash && { creationTransactionHash }),
    });
    return String(answer['verificationId']);
  }

  /** Waits for a job's end. */
  async waitFor(id: string, signal: AbortSignal): Promise<VerificationOutcome> {
    for (;;) {
      const job = await this.#ask(`/v2/verify/${id}`);
      if (job['isJobCompleted'] === true) return toOutcome(job);
      await wait(POLL_MS, undefined, { signal });
    }
  }

  close(): Promise<void> {
    return this.#fetch.close();
  }

  async #ask(path: string, body?: object): Promise<Members> {
    const response = await this.#fetch
      .fetch(`${this.#base}${path}`, {
        ...(body && {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
      .catch((error: unknown) => {
        throw asFullmatchError(error);
      });
    const answer = readMembers(response.body);
    if (response.status >= 200 && response.status < 300) return answer;
    const textOf = (...names: string[]): string | undefined =>
      names.map((name) => answer[name]).find((value) => typeof value === 'string');
    const said = textOf('message', 'detail') ?? `status ${response.status}`;
    const code = textOf('customCode', 'code');
    const isLater = response.status === 429 || response.status >= 500;
    throw new FullmatchError(
      isLater ? 'not_checked' : 'not_verifiable',
      `The service refuses: ${said}`,
      code === undefined ? {} : { details: { reason: code } },
    );
  }
}

function readMembers(body: Buffer): Members {
  try {
    return JSON.parse(body.toString('utf8')) as Members;
  } catch {
    throw new FullmatchError('not_checked', 'What answers at --url is not a verification service.');
  }
}

function readInputFiles({ count, paths }: Members): DroppedSources {
  return { count: Number(count), paths: Array.isArray(paths) ? paths.map(String) : [] };
}

function toOutcome(job: Members): VerificationOutcome {
  const contract = job['contract'] as Readonly<Record<string, string | null>>;
  const error = job['error'] as Members | undefined;
  const matchOf = (name: string): Match | null => MATCHES[contract[name] ?? ''] ?? null;
  return {
    chainId: Number(contract['chainId']),
    address: String(contract['address']).toLowerCase() as Hex,
    runtimeMatch: matchOf('runtimeMatch'),
    creationMatch: matchOf('creationMatch'),
    ...(typeof job['stored'] === 'boolean' && {
      stored: job['stored'],
      keptBeside: job['keptBeside'] === true,
    }),
    ...(isMembers(job['droppedSources']) && {
      droppedSources: readInputFiles(job['droppedSources']),
    }),
    ...(error && {
      failure: {
        code: String(error['customCode']),
        kind: failureKindOf(String(error['customCode'])),
        message: String(error['message']),
        data: error['errorData'],
      },
    }),
  };
}
