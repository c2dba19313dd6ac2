import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Database } from '../../store/database.ts';
import { MAX_ATTEMPTS, type ClaimedJob } from './run-jobs.ts';
import { isPassing } from '../verification-failure.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

// Queued behind the waiting jobs, so that a problem specific to one job does not hold up the others. The
// attempt is not counted for the first day; after that it is, since the problem is then not temporary and
// every job must end.
const PUT_BACK = sql(
  'put job back',
  `UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL,
     attempts = attempts - CASE WHEN created_at > now() - interval '1 day' THEN 1 ELSE 0 END,
     turn = (SELECT coalesce(max(turn) + 1, 0) FROM verification_jobs WHERE state = 'queued')
   WHERE id = $1 AND lease_token = $2 AND NOT cancel_requested
     AND (attempts < $3 OR created_at > now() - interval '1 day')
   RETURNING id`,
);

/**
 * Puts a claimed job back after a temporary problem, without counting the attempt. Retries while the database
 * itself is unavailable, until the signal aborts.
 * @returns false for a lost claim, a cancelled job, or a problem that turns out not to be temporary
 */
export async function requeueAfterTemporaryProblem(
  database: Database,
  { id, token }: ClaimedJob,
  signal: AbortSignal,
): Promise<boolean> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
    try {
      return (await database.query(PUT_BACK, [id, token, MAX_ATTEMPTS])).length > 0;
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      await wait(delay, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Returns how long a worker pauses after a number of consecutive temporary problems, in milliseconds. */
export function troubleBackoffMs(troubles: number): number {
  return troubles === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (troubles - 1), LONGEST_PAUSE_MS);
}
