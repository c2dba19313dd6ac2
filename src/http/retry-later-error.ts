import { type ErrorCode, FullmatchError } from '../errors.ts';

/**
 * Capacity usually becomes free within a second or two: bodies are read, responses are received, slow clients
 * are disconnected.
 */
const RETRY_AFTER_S = 5;

/**
 * Returns the error for a request that may be retried when there is capacity.
 * @param problem what exceeds the capacity now.
 */
export function retryLaterError(code: ErrorCode, problem: string): FullmatchError {
  return new FullmatchError(code, `${problem}; try again in ${RETRY_AFTER_S} seconds.`, {
    details: { retryAfterSeconds: RETRY_AFTER_S },
  });
}
