import { setTimeout as wait } from 'node:timers/promises';
import { asFullmatchError, FullmatchError } from '../errors.ts';
import { hostPortOf } from '../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Hex } from '../lib/hex.ts';
import { isMembers, type Members } from '../lib/members.ts';
import { printableText } from '../lib/printable-text.ts';
import { findDeployableContracts } from '../solidity/build-standard-json.ts';
import { additionalMembers } from '../solidity/to-standard-json.ts';
import type { Match } from '../repository/repository.ts';
import { failureKindOf } from '../verification/verification-failure.ts';
import { type DroppedSources } from '../verification/jobs/verification-job.ts';
import {
  type StandardJsonCompilation,
  type VerificationRequest,
} from '../verification/verification-request.ts';
import { type CliContext, writeLine } from './cli-context.ts';
import { contractRequiredError } from './choose-contract.ts';
import { type VerificationOutcome } from './verification-outcome.ts';

const POLL_MS = 500;
const DEADLINE_MS = 60_000;
const MAX_BYTES = 16_000_000;
const MATCHES: Readonly<Record<string, Match>> = { exact_match: 'full', match: 'partial' };

/** Client of a running service's verification API v2. */
export class RemoteService {
  readonly #base: string;
  readonly #fetch: GuardedFetch;
  readonly #token: string | undefined;

  /** @param token access token of the service, if it requires one */
  constructor(url: string, token?: string) {
    this.#token = token;
    this.#base = url.replace(/\/+$/, '');
    if (!URL.canParse(this.#base)) {
      throw new FullmatchError(
        'invalid_parameter',
        '--url is not a URL, such as http://localhost:5555.',
      );
    }
    this.#fetch = createGuardedFetch({
      // The user entered the URL, so it may be on this machine.
      allowPrivate: [hostPortOf(new URL(this.#base))],
      maxBytes: MAX_BYTES,
      deadlineMs: DEADLINE_MS,
      maxRedirects: 0,
      userAgent: 'fullmatch',
    });
  }

  /** The service's URL for people, without credentials or a trailing slash. */
  get url(): string {
    const url = new URL(this.#base);
    url.username = '';
    url.password = '';
    return url.href.replace(/\/+$/, '');
  }

  /** Returns the id of a chain given any reference. */
  async findChainId(ref: string): Promise<number> {
    if (/^[1-9]\d*$/.test(ref)) return Number(ref);
    const chain = await this.#ask(`/chains/${encodeURIComponent(ref)}`);
    return Number(chain['chainId']);
  }

  /** Returns the compiler that the bytecode on chain names, or undefined. */
  async propose(chainId: number, address: Hex): Promise<string | undefined> {
    const answer = await this.#ask(`/v1/verify/proposal/${chainId}/${address}`);
    const { compilerVersion } = answer;
    return typeof compilerVersion === 'string' ? compilerVersion : undefined;
  }

  /** @returns the job's id, or the outcome if the contract already has a full match */
  async submit(request: VerificationRequest): Promise<string | VerificationOutcome> {
    try {
      return await this.#submit(request);
    } catch (error) {
      const isThere =
        error instanceof FullmatchError && error.details['reason'] === 'already_verified';
      if (!isThere) throw error;
      const contract = await this.#ask(`/v2/contract/${request.chainId}/${request.address}`);
      return toOutcome({ contract, stored: false });
    }
  }

  async #submit({ chainId, address, ...request }: VerificationRequest): Promise<string> {
    const { compilation, creationTransactionHash } = request;
    const isMetadata = compilation.kind === 'metadata';
    if (!isMetadata && compilation.contractIdentifier === undefined) {
      return this.#submitSources({ chainId, address, ...request }, compilation);
    }
    const body = isMetadata
      ? { metadata: compilation.metadata, sources: compilation.sources }
      : {
          stdJsonInput: { ...compilation.input, ...additionalMembers(compilation.input) },
          compilerVersion: compilation.compilerVersion,
          contractIdentifier: compilation.contractIdentifier,
          trySettings: compilation.trySettings,
        };
    const route = isMetadata ? '/v2/verify/metadata' : '/v2/verify';
    const answer = await this.#ask(`${route}/${chainId}/${address}`, {
      ...body,
      ...(creationTransactionHash && { creationTransactionHash }),
    });
    return String(answer['verificationId']);
  }

  /** Submits sources without a contract name; the service finds the contract by its bytecode on chain. */
  async #submitSources(
    { chainId, address, creationTransactionHash }: VerificationRequest,
    { input, compilerVersion, trySettings }: StandardJsonCompilation,
  ): Promise<string> {
    const { optimizer, evmVersion, viaIR, remappings, libraries = {}, ...others } = input.settings;
    const sources = Object.entries(input.sources).map(([path, { content = '' }]) => [
      path,
      content,
    ]);
    const files = Object.fromEntries(sources) as Record<string, string>;
    // The route accepts only settings of plain sources; other parts of the input would be lost.
    if (Object.keys(others).some((name) => name !== 'outputSelection')) {
      throw contractRequiredError(
        findDeployableContracts(files).map(({ path, name }) => `${path}:${name}`),
      );
    }
    const placed = Object.entries(libraries as Record<string, Record<string, string>>);
    const answer = await this.#ask(`/v1/verify/sources/${chainId}/${address}`, {
      ...{ compilerVersion, optimizer, evmVersion, viaIR, remappings, creationTransactionHash },
      ...{ files, language: input.language, trySettings },
      libraries: Object.fromEntries(
        placed.flatMap(([path, named]) =>
          Object.entries(named).map(([name, library]) => [`${path}:${name}`, library]),
        ),
      ),
    });
    return String(answer['verificationId']);
  }

  /** Waits for a job to end. */
  async waitFor(
    id: string,
    { signal, stderr }: Pick<CliContext, 'signal' | 'stderr'>,
  ): Promise<VerificationOutcome> {
    let shown: unknown;
    for (;;) {
      const job = await this.#ask(`/v2/verify/${id}`);
      const message = isMembers(job['compilerDownload'])
        ? job['compilerDownload']['message']
        : shown;
      if (typeof message === 'string' && message !== shown)
        writeLine(stderr, printableText(message));
      shown = message;
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
          headers: {
            'content-type': 'application/json',
            ...(this.#token && { authorization: `Bearer ${this.#token}` }),
          },
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
    const reason = textOf('message', 'detail') ?? `status ${response.status}`;
    const code = textOf('customCode', 'code');
    const isLater = response.status === 429 || response.status >= 500;
    throw new FullmatchError(
      isLater ? 'not_checked' : 'not_verifiable',
      `The service rejected the request: ${reason}`,
      code === undefined ? {} : { details: { reason: code } },
    );
  }
}

function readMembers(body: Buffer): Members {
  try {
    return JSON.parse(body.toString('utf8')) as Members;
  } catch {
    throw new FullmatchError('not_checked', 'The server at --url is not a verification service.');
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
    ...(isMembers(job['changedSettings']) && { changedSettings: job['changedSettings'] }),
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
