import { type ErrorCode, FullmatchError } from '../errors.ts';

/** What requests wait for frees within a second or two: bodies are read, answers are taken, slow clients are cut. */
const RETRY_AFTER_S = 5;

/** The error for a request that another moment has room for. @param problem what there is too much of now. */
export function tryAgainLater(code: ErrorCode, problem: string): FullmatchError {
  return new FullmatchError(code, `${problem}; try again in ${RETRY_AFTER_S} seconds.`, {
    details: { retryAfterSeconds: RETRY_AFTER_S },
  });
}
