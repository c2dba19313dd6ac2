import { FullmatchError } from '../../errors.ts';
import { FetchFault } from '../../lib/fetch-fault.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Secret } from '../../lib/secret.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { withoutKey } from './without-key.ts';

/** Explorer to query, and its key. */
export interface ExplorerOptions {
  /** Its Etherscan-compatible API; `{chainId}` in it is replaced by the chain id. Absent if the operator names none. */
  readonly url?: string;
  /** The API to query without `url` when the client sends its own API key. */
  readonly clientKeyUrl?: string;
  /** The operator's own key. */
  readonly apiKey?: Secret;
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
}

/** Verified contracts of another explorer. */
export interface ExplorerSources {
  /**
   * Whether an explorer can be queried about a chain.
   * @param hasKey whether the client sent its own API key
   */
  canQuery(chain: Pick<RegisteredChain, 'local'>, hasKey: boolean): boolean;
  /**
   * Requests the sources of a contract.
   * @param apiKey the client's own key, instead of the operator's
   * @returns the unchanged response to `getsourcecode`, with the key removed if it is quoted
   * @throws FullmatchError etherscan_limit, etherscan_request_failed
   */
  read(chainId: number, address: Hex, apiKey?: Secret): Promise<Buffer>;
}

/** The largest verified sources have several megabytes, and twice as many as JSON within JSON. */
const ANSWER_BYTES = 16 * 2 ** 20;
const DEADLINE_MS = 20_000;
const TOO_MANY_REQUESTS = 429;

/** Queries an explorer for verified contracts. */
export function openExplorerSources({
  url,
  clientKeyUrl,
  apiKey: ownKey,
  fetch,
}: ExplorerOptions): ExplorerSources {
  const urlFor = (hasKey: boolean): string | undefined =>
    url ?? (hasKey ? clientKeyUrl : undefined);
  return {
    // A local chain may have the id of a public one.
    canQuery: ({ local }, hasKey) => url !== undefined || (!local && urlFor(hasKey) !== undefined),
    read: async (chainId, address, clientsKey) => {
      const apiKey = clientsKey ?? ownKey;
      const template = urlFor(clientsKey !== undefined);
      if (template === undefined) throw new Error('no explorer to query');
      const asked = new URL(template.replaceAll('{chainId}', String(chainId)));
      const question = { chainid: String(chainId), module: 'contract', action: 'getsourcecode' };
      const key = apiKey && { apikey: apiKey.reveal() };
      asked.search = new URLSearchParams({ ...question, address, ...key }).toString();
      const { status, body } = await askOnce(fetch, asked.href);
      if (status === TOO_MANY_REQUESTS) throw explorerRateLimited();
      if (status < 200 || status > 299) throw explorerError(`answers with the status ${status}`);
      const said = apiKey === undefined ? body : withoutKey(body, apiKey);
      if (said === undefined) throw explorerError('returned the API key repeatedly');
      return said;
    },
  };
}

async function askOnce(fetch: ExplorerOptions['fetch'], url: string) {
  try {
    return await fetch.fetch(url, { maxBytes: ANSWER_BYTES, deadlineMs: DEADLINE_MS });
  } catch (error) {
    if (!(error instanceof FetchFault)) throw error;
    if (error.code === 'throttled') throw explorerRateLimited();
    // Its message may name a host of the operator's own network.
    throw explorerError(`could not be asked (${error.code})`);
  }
}

/** The explorer rate-limits us. */
export function explorerRateLimited(): FullmatchError {
  return new FullmatchError(
    'etherscan_limit',
    'The rate limit of the other explorer is reached; try again later, or send your own key as apiKey.',
  );
}

/**
 * The explorer does not return sources.
 * @param how what it does instead, as the end of a sentence
 */
export function explorerError(how: string): FullmatchError {
  return new FullmatchError(
    'etherscan_request_failed',
    `The explorer from which contracts are imported ${how}; try again later, or send the sources.`,
  );
}
