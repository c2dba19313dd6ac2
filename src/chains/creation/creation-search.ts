// Finds the transaction that created a contract, in explorers and on chain.
import { type Hex } from '../../lib/hex.ts';
import { type Creation, type CreationRefusal } from '../rpc/creation.ts';

/** The ways to the creation transaction, in the order in which they are tried. */
export const CREATION_METHODS = [
  'submitted_hash',
  'contract_creator',
  'binary_search',
  'explorer_page',
] as const;

/**
 * `submitted_hash` what somebody says; `contract_creator` the node's own index (`ots_getContractCreator`);
 * `binary_search` the block from which on the code is there, and what its transactions created; `explorer_page` what an
 * explorer shows.
 */
export type CreationMethod = (typeof CREATION_METHODS)[number];

/**
 * What a method came to. `found`; `not_needed` an earlier one found it; `not_given` no hash was submitted;
 * `not_configured` the chain has no explorer page, or no endpoint; `not_supported` no endpoint has the method;
 * `not_known` the endpoints know none; `no_code` no code stands at the address; `no_archive` the code is older than what
 * the endpoints keep; `at_genesis` the code was there before the first transaction; `not_in_block` no transaction of
 * its block created it; `reorganised` the block was replaced while it was read; `page_unavailable`; `no_hit` the page
 * has no hash where the pattern looks; `deadline_exceeded` and `request_limit` the method's own bounds. The others say
 * why the transaction that it named is not taken ({@link CreationRefusal}).
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

/** The outcome of one search method. */
export interface MethodEnd {
  readonly outcome: CreationOutcome;
  /** Which endpoint or page said what, in codes; it may be shown to anyone. */
  readonly detail?: string;
}

/** The outcome of one method with its duration, as jobs and the API show it. */
export interface MethodRecord extends MethodEnd {
  readonly method: CreationMethod;
  readonly durationMs: number;
  /** The last transaction that it named, believed or not. */
  readonly transactionHash?: Hex;
}

/** The creation of a contract if any method led to it, and what each came to. */
export interface CreationSearch {
  readonly creation?: Creation;
  /** What a quorum says of transactions that are not the creation. */
  readonly denied?: ReadonlyMap<Hex, CreationRefusal>;
  /** One record for each method, in their order. */
  readonly methods: readonly MethodRecord[];
}

/** Outcomes after which nobody knows: the same question may have another answer later. */
const UNDECIDED: ReadonlySet<CreationOutcome> = new Set([
  'reorganised',
  'page_unavailable',
  'deadline_exceeded',
  'request_limit',
  'not_confirmed',
  'endpoints_disagree',
  'cannot_fetch',
]);

/** Whether a method could not look, which says nothing about the contract. */
export function lookupFailed({ outcome }: MethodEnd): boolean {
  return UNDECIDED.has(outcome);
}
