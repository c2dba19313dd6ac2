import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type Database } from '../store/database.ts';
import { forgetOldJobs } from './forget-jobs.ts';
import { reapJobs } from './run-jobs.ts';
import { type JobEnd } from './verification-job.ts';

/** How often jobs are forgotten. Between two times a few hundred failed jobs may be above their bound. */
const FORGET_EVERY_MS = 300_000;

/**
 * Takes jobs from workers that are gone, of any process: at once, then every `everyMs` milliseconds until the signal
 * aborts. Forgets jobs that ended long ago. Never rejects.
 */
export async function reapUntil(
  {
    database,
    log,
    onEnd,
  }: {
    readonly database: Database;
    readonly log: Logger;
    /** Told of each job that is ended because its workers were lost too often. */
    readonly onEnd?: (end: JobEnd) => void;
  },
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  let forgetAt = 0;
  while (!signal.aborted) {
    try {
      const { requeued, ended } = await reapJobs(database);
      if (requeued + ended.length > 0) {
        const counts = { requeued, failed: ended.length };
        log.warn({ event: 'jobs_reaped', ...counts }, 'jobs were lost by their workers');
      }
      for (const end of ended) onEnd?.(end);
      if (Date.now() >= forgetAt) {
        await forgetOldJobs(database);
        forgetAt = Date.now() + FORGET_EVERY_MS;
      }
    } catch (error) {
      log.warn(
        { event: 'reaping_failed', error: messageOf(error) },
        'lost jobs were not looked for',
      );
    }
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
