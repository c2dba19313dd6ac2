import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Database } from '../../store/database.ts';
import { MAX_ATTEMPTS, type ClaimedJob } from './run-jobs.ts';
import { isPassing } from '../verification-failure.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

// Behind the jobs that wait, so that trouble of one job's own does not keep the others. The attempt does not count;
// after a day it does, since then the trouble does not pass and a job always ends.
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
 * Puts a claimed job back after passing trouble, which is not an attempt of its own. While the database itself is in
 * trouble this tries again, until the signal aborts.
 * @returns false for a claim that was lost, a job that is cancelled, and one whose trouble does not pass.
 */
export async function putBack(
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

/** How long a worker rests after it met passing trouble so many times in a row, in milliseconds. */
export function pauseAfter(troubles: number): number {
  return troubles === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (troubles - 1), LONGEST_PAUSE_MS);
}
