import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database } from '../../store/database.ts';
import { deleteOldJobs } from './forget-jobs.ts';
import { reapJobs } from './run-jobs.ts';
import { type JobEnd } from './verification-job.ts';

/** Interval of the clean-up. In between, there may be a few hundred failed jobs more than the limit. */
const FORGET_EVERY_MS = 300_000;

/** Number of turns without reaping after the database was unavailable. */
const TURNS_SPARED = 3;
const IS_THERE = sql('look for the database', 'SELECT 1');

/** Reaps nothing, but fails like reaping if the database is still unavailable. */
async function sparing(database: Database): ReturnType<typeof reapJobs> {
  await database.query(IS_THERE);
  return { requeued: 0, ended: [] };
}

/**
 * Takes jobs from lost workers of any process: immediately, then every `everyMs` milliseconds until the
 * signal aborts. Also deletes old jobs. Never rejects.
 */
export async function runReaper(
  {
    database,
    log,
    onEnd,
  }: {
    readonly database: Database;
    readonly log: Logger;
    /** Called for each job that failed because its workers were lost too often. */
    readonly onEnd?: (end: JobEnd) => void;
  },
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  let forgetAt = 0;
  // While the database was unavailable no lease could be renewed; live workers need time to do so.
  let reapAt = 0;
  while (!signal.aborted) {
    try {
      const { requeued, ended } =
        Date.now() < reapAt ? await sparing(database) : await reapJobs(database);
      if (requeued + ended.length > 0) {
        const counts = { requeued, failed: ended.length };
        log.warn({ event: 'jobs_reaped', ...counts }, 'jobs were lost by their workers');
      }
      for (const end of ended) onEnd?.(end);
      if (Date.now() >= forgetAt) {
        await deleteOldJobs(database);
        forgetAt = Date.now() + FORGET_EVERY_MS;
      }
    } catch (error) {
      reapAt = Date.now() + TURNS_SPARED * everyMs;
      log.warn(
        { event: 'reaping_failed', error: messageOf(error) },
        'could not check for lost jobs',
      );
    }
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
