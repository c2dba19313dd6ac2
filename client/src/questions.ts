import { type ChainRecord, type ContractSummary } from './schemas.ts';

/** Per call: a signal that ends it. */
export interface RequestOptions {
  signal?: AbortSignal;
}

/** Which chains to find. An absent field excludes none. */
export interface ChainSearch {
  supported?: boolean;
  monitored?: boolean;
  testnet?: boolean;
  /** A chain that states no status counts as active. */
  status?: 'active' | 'incubating' | 'deprecated';
  /** Words that must all occur in the id, a name or the currency. Case and accents are ignored. */
  q?: string;
  /** Fields of the records; all of them where absent. `chainId` is always among them. */
  fields?: readonly (keyof ChainRecord)[];
  /** Chains in a page: 1 to 1000, 100 where absent. */
  limit?: number;
  /** The `next` of the page before. */
  after?: number;
}

/** Which history is asked for; days are in UTC and included. */
export interface HistoryQuestion {
  /** All chains together where absent. */
  chains?: readonly number[];
  from?: string;
  to?: string;
  interval?: 'day' | 'week' | 'month';
}

/** Where a page begins, and how many contracts it holds: 1 to 200, 50 where absent. */
export interface PageQuestion {
  after?: string;
  limit?: number;
}

/** Which contracts are listed. */
export interface ContractQuestion extends PageQuestion {
  chain?: number;
  match?: ContractSummary['match'];
  origin?: ContractSummary['origin'];
  /** The trust that a match has at least. */
  trust?: ContractSummary['trust'];
}

/** Which fields of a contract are read: `fields: ['abi', 'sources']`, or all but those in `omit`. */
export interface ContractFields {
  fields?: readonly string[];
  omit?: readonly string[];
}
