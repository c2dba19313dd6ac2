import { type ChainRecord, type ContractSummary } from './schemas.ts';

/** Per call: a signal that ends it. */
export interface RequestOptions {
  signal?: AbortSignal;
}

/** Filter for chains. Absent fields exclude nothing. */
export interface ChainSearch {
  supported?: boolean;
  monitored?: boolean;
  testnet?: boolean;
  /** A chain without a status counts as active. */
  status?: 'active' | 'incubating' | 'deprecated';
  /** Words that must all occur in the id, a name or the currency, ignoring case and accents. */
  q?: string;
  /** Fields of the records; all by default. `chainId` is always included. */
  fields?: readonly (keyof ChainRecord)[];
  /** Chains per page: 1 to 1000, 100 by default. */
  limit?: number;
  /** The `next` of the previous page. */
  after?: number;
}

/** The requested history; days are in UTC and inclusive. */
export interface HistoryQuestion {
  /** All chains together by default. */
  chains?: readonly number[];
  from?: string;
  to?: string;
  interval?: 'day' | 'week' | 'month';
}

/** Cursor and size of a page: 1 to 200 contracts, 50 by default. */
export interface PageQuestion {
  after?: string;
  limit?: number;
}

/** Filter for contracts. */
export interface ContractQuestion extends PageQuestion {
  chain?: number;
  match?: ContractSummary['match'];
  origin?: ContractSummary['origin'];
  /** The minimum trust of a match. */
  trust?: ContractSummary['trust'];
}

/** Fields of a contract to read: `fields: ['abi', 'sources']`, or all except those in `omit`. */
export interface ContractFields {
  fields?: readonly string[];
  omit?: readonly string[];
}
