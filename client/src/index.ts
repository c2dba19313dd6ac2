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
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(search)) {
        if (value !== undefined) query.set(name, String(value));
      }
      return (await get(`${apiUrl}/v1/chains?${query.toString()}`, call)) as ChainPage;
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
  };
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
