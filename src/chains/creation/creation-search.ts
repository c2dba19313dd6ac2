// Finds the transaction that created a contract, through explorers and on chain.
import { type Hex } from '../../lib/hex.ts';
import { type Creation, type CreationRefusal } from '../rpc/creation.ts';

/** Search methods for the creation transaction, in the order they are tried. */
export const CREATION_METHODS = [
  'submitted_hash',
  'contract_creator',
  'binary_search',
  'explorer_page',
] as const;

/**
 * `submitted_hash` the hash in the request; `contract_creator` the node's own index
 * (`ots_getContractCreator`); `binary_search` the first block that has the code, and the transactions of that
 * block; `explorer_page` an explorer's page.
 */
export type CreationMethod = (typeof CREATION_METHODS)[number];

/**
 * Outcome of a search method. `found`; `not_needed` an earlier method found it; `not_given` no hash was
 * submitted; `not_configured` the chain has no explorer page, or no endpoint; `not_supported` no endpoint
 * supports the RPC method; `not_known` no endpoint knows the creation; `no_code` the address has no code;
 * `no_archive` the code is older than the states that the endpoints keep; `at_genesis` the code existed
 * before the first transaction; `not_in_block` no transaction of its block created it; `reorganised` the
 * block was replaced while it was read; `page_unavailable`; `no_hit` the pattern found no hash on the page;
 * `deadline_exceeded` and `request_limit` limits of the method. The others are reasons for rejecting the
 * transaction that the method named ({@link CreationRefusal}).
 */
export type CreationOutcome =
  | 'found'
  | 'not_needed'
  | 'not_given'
  | 'not_configured'
  | 'not_supported'
  | 'not_known'
  | 'no_code'
  | 'no_archive'
  | 'at_genesis'
  | 'not_in_block'
  | 'reorganised'
  | 'page_unavailable'
  | 'no_hit'
  | 'deadline_exceeded'
  | 'request_limit'
  | CreationRefusal;

/** Outcome of one search method. */
export interface MethodResult {
  readonly outcome: CreationOutcome;
  /** Endpoint or page and its response, as codes; safe to publish. */
  readonly detail?: string;
}

/** Outcome and duration of one method, as jobs and the API show it. */
export interface MethodRecord extends MethodResult {
  readonly method: CreationMethod;
  readonly durationMs: number;
  /** The last transaction that it named, accepted or not. */
  readonly transactionHash?: Hex;
}

/** The creation of a contract, if a method found it, and the outcome of each method. */
export interface CreationSearch {
  readonly creation?: Creation;
  /** Reasons on which a quorum agrees for transactions that are not the creation. */
  readonly denied?: ReadonlyMap<Hex, CreationRefusal>;
  /** One record for each method, in their order. */
  readonly methods: readonly MethodRecord[];
}

/** Inconclusive outcomes: the same search may have another result later. */
const UNDECIDED: ReadonlySet<CreationOutcome> = new Set([
  'reorganised',
  'page_unavailable',
  'deadline_exceeded',
  'request_limit',
  'not_confirmed',
  'endpoints_disagree',
  'cannot_fetch',
]);

/** Whether a method could not search at all, which proves nothing about the contract. */
export function lookupFailed({ outcome }: MethodResult): boolean {
  return UNDECIDED.has(outcome);
}
