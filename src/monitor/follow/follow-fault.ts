import { FullmatchError } from '../../errors.ts';
import { type EndpointFault, reasonOf, formatFaults } from '../../chains/rpc/rpc-faults.ts';

/**
 * Why a chain or a backfill cannot be read further. `chain_not_found`: the registry does not have the chain;
 * `rpc_unreachable`: no endpoint provides the data; `budget_spent`: the daily budget of all endpoint hosts is
 * used up; `endpoint_behind`: every endpoint's head is below the cursor; `endpoints_disagree`: two operators
 * have different blocks under one number; `not_confirmed`: no endpoint of another operator has the block;
 * `finality_unknown`: no endpoint reports the final block; `not_final`: the chain may still replace the
 * blocks; `blocks_replaced`: the blocks that were read do not follow each other; `monitor_failed`: anything
 * else.
 */
export type FollowFaultCode =
  | 'chain_not_found'
  | 'rpc_unreachable'
  | 'budget_spent'
  | 'endpoint_behind'
  | 'endpoints_disagree'
  | 'not_confirmed'
  | 'finality_unknown'
  | 'not_final'
  | 'blocks_replaced'
  | 'monitor_failed';

/** A fault that is shown with the chain. Its message names endpoints by their labels. */
export class FollowFault extends Error {
  readonly code: FollowFaultCode;
  /** Reason shown with the label of a single endpoint. */
  readonly reason: string;

  constructor(code: FollowFaultCode, message: string, reason: string = code) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** Returns whether an error concerns only one endpoint, so that another may succeed. */
export function isEndpointFault(error: unknown): boolean {
  if (error instanceof FollowFault) return true;
  return (
    error instanceof FullmatchError &&
    ['rpc_unreachable', 'rpc_refused', 'rpc_invalid_answer', 'wrong_chain'].includes(error.code)
  );
}

/** Returns the reason to show with the label of an endpoint. */
export function endpointReason(error: unknown): string {
  return error instanceof FollowFault ? error.reason : reasonOf(error);
}

const ONE_REASON: ReadonlySet<string> = new Set([
  'budget_spent',
  'endpoint_behind',
  'not_confirmed',
  'finality_unknown',
  'not_final',
  'blocks_replaced',
]);

const MESSAGES: Readonly<Record<string, string>> = {
  budget_spent: 'No request to an endpoint is left for today',
  endpoint_behind: 'Every endpoint is behind the last block read',
  endpoints_disagree: 'Endpoints of different operators have different blocks with the same number',
  not_confirmed: 'No endpoint of another operator has the block',
  finality_unknown: 'No endpoint reports a final block; set a number of confirmations',
  not_final: 'The chain may still replace these blocks',
  blocks_replaced: 'Blocks were replaced while they were read',
};

/** Returns the fault to show when every endpoint failed. */
export function allFailed(faults: readonly EndpointFault[]): FollowFault {
  const reasons = new Set(faults.map(({ reason }) => reason));
  // A disagreement is more informative than endpoints that rest or lag.
  const reason = reasons.has('endpoints_disagree') ? 'endpoints_disagree' : [...reasons][0];
  const shown = formatFaults(faults);
  const isShared = reasons.size === 1 && reason !== undefined && ONE_REASON.has(reason);
  if (isShared || reason === 'endpoints_disagree') {
    return new FollowFault(reason as FollowFaultCode, `${MESSAGES[reason] ?? reason}: ${shown}.`);
  }
  return new FollowFault('rpc_unreachable', `No endpoint can be read: ${shown}.`);
}

const SHOWN_CHARACTERS = 1000;

/** Describes a fault for storage: without URLs, and truncated. */
export function describeFault(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof FollowFault || error instanceof FullmatchError) {
    return { code: error.code, message: error.message.slice(0, SHOWN_CHARACTERS) };
  }
  // The text of an unknown error may contain anything; it is only in the log.
  return { code: 'monitor_failed', message: 'An unexpected error; see the service log.' };
}
