/** An element of `GET /chains`. A field that is not known is absent. */
export interface ChainRecord {
  name: string;
  chain?: string;
  network?: string;
  icon?: string;
  rpc: string[];
  faucets?: string[];
  nativeCurrency?: { name: string; symbol: string; decimals: number };
  infoURL?: string;
  shortName?: string;
  chainId: number;
  networkId?: number;
  slip44?: number;
  ens?: { registry: string };
  explorers?: { name: string; url: string; standard: string; icon?: string }[];
  /** May a contract be verified on this chain? */
  supported: boolean;
  /** Is the chain watched for new contracts? */
  monitored: boolean;
  /** A URL template with the literal `${ADDRESS}`. */
  contractFetchAddress?: string;
  /** One capture group: the creation transaction hash on the explorer's page. */
  txRegex?: string;
  title?: string;
  status?: string;
  features?: { name: string }[];
  parent?: Record<string, unknown>;
  redFlags?: string[];
}

/** What chains are looked for; what is absent rules nothing out. */
export interface ChainSearch {
  supported?: boolean;
  monitored?: boolean;
  testnet?: boolean;
  /** A chain that states no status counts as active. */
  status?: 'active' | 'incubating' | 'deprecated';
  /** Words, each of which occurs in the id, a name or the currency; case and accents are ignored. */
  q?: string;
  /** Fields of the records; all of them where absent. `chainId` is always among them. */
  fields?: readonly (keyof ChainRecord)[];
  /** Chains in a page: 1 to 1000, 100 where absent. */
  limit?: number;
  /** The `next` of the page before. */
  after?: number;
}

/** A page of the chains that were found, ascending by chainId. */
export interface ChainPage {
  /** Chains of the registry. */
  total: number;
  /** Chains that fit, on all pages. */
  matching: number;
  /** Absent where there is no more. */
  next?: number;
  results: (Partial<ChainRecord> & Pick<ChainRecord, 'chainId'>)[];
}

/** A chain, and how the service came to its record. */
export interface ChainDetails {
  record: ChainRecord;
  testnet: boolean;
  /** On the operator's machine or private network. */
  local: boolean;
  /** Whether `/v1/chains/{ref}/icon` has its picture. */
  hasIcon: boolean;
  /** Where each field of the record comes from. */
  origins: Record<string, string>;
  /** Conflicts and what else was noticed, gravest first. */
  findings: {
    level: 'error' | 'warning' | 'info';
    code: string;
    field?: string;
    message: string;
  }[];
  /** What the service asks; a private endpoint has a number in place of its host. */
  endpoints: { label: string; public: boolean }[];
  /** The public list in force. */
  list: { source: string; sha256: string };
}

/** Why something is as it is: `code` for programs, `detail` for people. */
export interface HealthReason {
  code: string;
  detail: string;
}

/** How an RPC endpoint is. A field that is not known is absent. */
export interface EndpointHealth {
  /** The host of a public endpoint; private ones have a number. */
  label: string;
  public: boolean;
  state:
    'unknown' | 'up' | 'lagging' | 'stalled' | 'throttled' | 'down' | 'wrong_chain' | 'not_probed';
  /** When the state began: an ISO 8601 time, as all times here. */
  since?: string;
  reasons: HealthReason[];
  checkedAt?: string;
  head?: { number: number; timestamp: string; seenAt: string; ageSeconds?: number };
  lagBlocks?: number;
  latency?: { p50Ms: number; p95Ms: number; samples: number };
  archive: 'yes' | 'no' | 'unknown';
  trace: 'yes' | 'no' | 'unknown';
}

/** `GET /v1/chains/{ref}/health`: how a chain and its endpoints are. */
export interface ChainHealth {
  chainId: number;
  state: 'unknown' | 'up' | 'degraded' | 'down' | 'not_probed';
  since?: string;
  reasons: HealthReason[];
  secondsPerBlock?: number;
  endpoints: EndpointHealth[];
}

/** The counts of one chain in `stats.json`: contracts at their best match. */
export interface ChainStatistics {
  full_match: number;
  partial_match: number;
}

/** `GET /stats.json`: counts by decimal chain id. */
export type Statistics = Record<string, ChainStatistics>;

/** Contracts at their best match. */
export interface MatchCounts {
  full: number;
  partial: number;
}

/** Who judged a match. */
export type Origin = 'verified' | 'imported' | 'monitored';

/** `GET /v1/statistics`: all counts, true at one moment. Times are ISO 8601. */
export interface StatisticsOverview {
  asOf: string;
  /** The newest event that is counted, in decimal digits. */
  eventNumber: string;
  totals: MatchCounts & { chains: number; uniqueCodes: number };
  /** In the last 24 hours and 7 days, by whole hours. */
  changes: { day: MatchCounts; week: MatchCounts };
  chains: (MatchCounts & {
    chainId: number;
    name: string;
    /** full / (full + partial). */
    share: number | null;
    firstVerifiedAt: string | null;
    lastVerifiedAt: string | null;
  })[];
  origins: Record<Origin, MatchCounts>;
  compilers: (MatchCounts & { language: string; version: string })[];
}

/** Which history is asked for; days are in UTC and included. */
export interface HistoryQuestion {
  /** All chains together where absent. */
  chains?: readonly number[];
  from?: string;
  to?: string;
  interval?: 'day' | 'week' | 'month';
}

/** `GET /v1/statistics/history`: the counts at the end of each interval, and why they fell. */
export interface StatisticsHistory {
  interval: 'day' | 'week' | 'month';
  from: string;
  to: string;
  chains: number[] | null;
  points: (MatchCounts & { date: string })[];
  falls: (MatchCounts & { date: string; chainId: number; reason: string })[];
}

/** A verified contract in a list. */
export interface ContractSummary {
  chainId: number;
  /** With its EIP-55 checksum. */
  address: string;
  match: 'full' | 'partial';
  runtimeMatch: 'full' | 'partial' | null;
  creationMatch: 'full' | 'partial' | null;
  name: string;
  language: string;
  compilerVersion: string;
  origin: Origin;
  verifiedAt: string;
  matchId: string;
}

/** Contracts, a page at a time; `next` is the `after` of the next page. */
export interface ContractPage {
  results: ContractSummary[];
  next: string | null;
}

/** Where a page begins, and how many contracts it holds: 1 to 200, 50 where absent. */
export interface PageQuestion {
  after?: string;
  limit?: number;
}

/** Which contracts are listed. */
export interface ContractQuestion extends PageQuestion {
  chain?: number;
  match?: 'full' | 'partial';
  origin?: Origin;
}

/** Where the service answers, and how to ask. */
export interface FullmatchClientOptions {
  /** The API host, with its path prefix if it has one: `https://example.org/server`. */
  apiUrl: string;
  /** The repository host: `https://repo.example.org`. */
  repositoryUrl: string;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof fetch;
}

/** Per call: a signal that ends it. */
export interface RequestOptions {
  signal?: AbortSignal;
}

/** An answer that is not the document asked for. `code` is the stable code of the service's problem, where it gave one. */
export class FullmatchRequestError extends Error {
  override readonly name = 'FullmatchRequestError';
  readonly url: string;
  readonly status: number;
  readonly code: string | undefined;

  constructor(url: string, status: number, code: string | undefined, detail: string) {
    super(`${url} answered ${String(status)}: ${detail}`);
    this.url = url;
    this.status = status;
    this.code = code;
  }
}

/** Reads the published documents of one service. */
export interface FullmatchClient {
  /** Every chain that the service knows, ascending by chainId. */
  chains(options?: RequestOptions): Promise<ChainRecord[]>;
  /** One chain by `1`, `0x1`, `eip155:1` or a short name such as `eth`; undefined when the service does not know it. */
  chain(reference: string | number, options?: RequestOptions): Promise<ChainRecord | undefined>;
  /** The chains that fit, a page at a time. */
  findChains(search?: ChainSearch, options?: RequestOptions): Promise<ChainPage>;
  /** A chain with the origins of its fields and its conflicts; undefined when the service does not know it. */
  chainDetails(
    reference: string | number,
    options?: RequestOptions,
  ): Promise<ChainDetails | undefined>;
  /** How the endpoints of a chain are; undefined when the service does not know the chain. */
  chainHealth(
    reference: string | number,
    options?: RequestOptions,
  ): Promise<ChainHealth | undefined>;
  /** The counts of verified contracts of every chain that ever stored one. */
  statistics(options?: RequestOptions): Promise<Statistics>;
  /** All counts: by chain, by origin, by compiler, and how they changed. */
  statisticsOverview(options?: RequestOptions): Promise<StatisticsOverview>;
  /** The counts over time. */
  statisticsHistory(
    question?: HistoryQuestion,
    options?: RequestOptions,
  ): Promise<StatisticsHistory>;
  /** Verified contracts, newest first. */
  contracts(question?: ContractQuestion, options?: RequestOptions): Promise<ContractPage>;
  /** Verified contracts by address (from its first 4 bytes on), by name or by code hash. */
  searchContracts(
    words: string,
    page?: PageQuestion,
    options?: RequestOptions,
  ): Promise<ContractPage>;
  /** Other verified contracts with the same runtime code. */
  sameCode(
    chainId: number,
    address: string,
    page?: PageQuestion,
    options?: RequestOptions,
  ): Promise<ContractPage>;
  /** Where `EventSource` hears of matches and registry changes as they happen. */
  readonly eventsUrl: string;
}

/**
 * A client for one service. It holds no state: every call is one request.
 * Its calls throw {@link FullmatchRequestError} for an answer of another status or without JSON,
 * and whatever `fetch` throws when there is no answer.
 */
export function createFullmatchClient(options: FullmatchClientOptions): FullmatchClient {
  const request = options.fetch ?? globalThis.fetch;
  const apiUrl = withoutTrailingSlashes(options.apiUrl);
  const repositoryUrl = withoutTrailingSlashes(options.repositoryUrl);
  const get = async (url: string, { signal }: RequestOptions): Promise<unknown> => {
    const response = await request(url, {
      headers: { accept: 'application/json' },
      ...(signal === undefined ? {} : { signal }),
    });
    return readBody(url, response);
  };
  const getChain = async (url: string, call: RequestOptions): Promise<unknown> => {
    try {
      return await get(url, call);
    } catch (error) {
      if (error instanceof FullmatchRequestError && error.code === 'chain_not_found')
        return undefined;
      throw error;
    }
  };
  return {
    chains: async (call = {}) => (await get(`${apiUrl}/chains`, call)) as ChainRecord[],
    chain: async (reference, call = {}) => {
      const url = `${apiUrl}/chains/${encodeURIComponent(String(reference))}`;
      return (await getChain(url, call)) as ChainRecord | undefined;
    },
    findChains: async (search = {}, call = {}) => {
      return (await get(`${apiUrl}/v1/chains?${queryOf(search)}`, call)) as ChainPage;
    },
    chainDetails: async (reference, call = {}) => {
      const url = `${apiUrl}/v1/chains/${encodeURIComponent(String(reference))}`;
      return (await getChain(url, call)) as ChainDetails | undefined;
    },
    chainHealth: async (reference, call = {}) => {
      const url = `${apiUrl}/v1/chains/${encodeURIComponent(String(reference))}/health`;
      return (await getChain(url, call)) as ChainHealth | undefined;
    },
    statistics: async (call = {}) => (await get(`${repositoryUrl}/stats.json`, call)) as Statistics,
    statisticsOverview: async (call = {}) =>
      (await get(`${apiUrl}/v1/statistics`, call)) as StatisticsOverview,
    statisticsHistory: async ({ chains = [], ...rest } = {}, call = {}) => {
      const ids = chains.map((id) => `&chain=${String(id)}`).join('');
      const url = `${apiUrl}/v1/statistics/history?${queryOf(rest)}${ids}`;
      return (await get(url, call)) as StatisticsHistory;
    },
    contracts: async (question = {}, call = {}) =>
      (await get(`${apiUrl}/v1/contracts?${queryOf(question)}`, call)) as ContractPage,
    searchContracts: async (words, page = {}, call = {}) => {
      const url = `${apiUrl}/v1/contracts/search?${queryOf({ q: words, ...page })}`;
      return (await get(url, call)) as ContractPage;
    },
    sameCode: async (chainId, address, page = {}, call = {}) => {
      const url = `${apiUrl}/v1/contracts/${String(chainId)}/${address}/same-code?${queryOf(page)}`;
      return (await get(url, call)) as ContractPage;
    },
    eventsUrl: `${apiUrl}/v1/events`,
  };
}

/** The parameters that are set. */
function queryOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString();
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url.charAt(end - 1) === '/') end -= 1;
  return url.slice(0, end);
}

async function readBody(url: string, response: Response): Promise<unknown> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new FullmatchRequestError(url, response.status, undefined, 'the body is not JSON');
  }
  if (response.ok) return body;
  const problem =
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const code = typeof problem['code'] === 'string' ? problem['code'] : undefined;
  const detail = typeof problem['detail'] === 'string' ? problem['detail'] : response.statusText;
  throw new FullmatchRequestError(url, response.status, code, detail);
}
