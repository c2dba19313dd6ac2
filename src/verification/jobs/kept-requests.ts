import { failureKindOf } from '../verification-failure.ts';

/** Limit on the requests that failed jobs keep, in bytes. */
const MAX_KEPT_BYTES = 512 * 1024;

/** SQL: the request that a job keeps when it fails, given whether a retry may end differently. */
export const keepRequestSql = (isRetriable: string): string =>
  `CASE WHEN ${isRetriable} AND octet_length(request) <= ${MAX_KEPT_BYTES} THEN request END`;

/** Returns whether a failure says nothing about the contract, so that a later retry may end differently. */
export function isRetriable(code: string): boolean {
  return failureKindOf(code) === 'not_checked' && code !== 'job_cancelled';
}
