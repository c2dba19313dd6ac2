import { FullmatchError } from '../../errors.ts';
import { type Endpoint } from '../registry/registered-chain.ts';

/** Failure of an endpoint, shown next to its label. */
export interface EndpointFault {
  /** The endpoint's label. */
  readonly endpoint: string;
  /** `wrong_chain`, `rpc_invalid_answer`, `connection_failed`, `status_503`, `stale`, … */
  readonly reason: string;
}

const MOMENTARY: ReadonlySet<string> = new Set([
  'connection_failed',
  'malformed_response',
  'throttled',
]);
/** The code under which a fault is reported: its reason if it has one. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof FullmatchError)) return 'unknown';
  return typeof error.details.reason === 'string' ? error.details.reason : error.code;
}

/** `a (connection_failed), b (wrong_chain)`. */
export function formatFaults(faults: readonly EndpointFault[]): string {
  if (faults.length === 0) return 'the chain has no usable endpoint';
  return faults.map(({ endpoint, reason }) => `${endpoint} (${reason})`).join(', ');
}

/** Whether the same request may succeed a little later. */
export function isTransientFault(error: unknown): error is FullmatchError {
  if (!(error instanceof FullmatchError) || error.code !== 'rpc_unreachable') return false;
  const reason = reasonOf(error);
  return MOMENTARY.has(reason) || reason.startsWith('status_5');
}

/** Fault of an endpoint that belongs to another chain. */
export function wrongChain(chainId: number, endpoint: Endpoint, answered: number): FullmatchError {
  return new FullmatchError(
    'wrong_chain',
    `The endpoint ${endpoint.label} of chain ${chainId} belongs to chain ${answered}: correct the configuration.`,
    { details: { chainId, endpoint: endpoint.label, answeredChainId: answered } },
  );
}

/** Fault of an endpoint that does not respond. */
export function unreachable(
  chainId: number,
  endpoint: Endpoint,
  method: string,
  reason: string,
  retryAfterMs?: number,
  resting = false,
): FullmatchError {
  return new FullmatchError(
    'rpc_unreachable',
    `The endpoint ${endpoint.label} of chain ${chainId} does not respond to ${method} (${reason}).`,
    {
      details: {
        chainId,
        endpoint: endpoint.label,
        method,
        reason,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(resting ? { resting } : {}),
      },
    },
  );
}

/** Fault of an endpoint whose response is invalid, with a `reason` if it has its own. */
export function invalidAnswer(
  chainId: number,
  endpoint: Endpoint,
  method: string,
  what: string,
  reason?: 'answer_too_large',
): FullmatchError {
  return new FullmatchError(
    'rpc_invalid_answer',
    `The endpoint ${endpoint.label} of chain ${chainId} answers ${method} with ${what}.`,
    { details: { chainId, endpoint: endpoint.label, method, ...(reason && { reason }) } },
  );
}
