import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type Database } from '../store/database.ts';
import { forgetOldJobs, reapJobs } from './run-jobs.ts';

/** Old jobs are looked for this often: there is no index on their end, since nothing else asks for it. */
const FORGET_EVERY_MS = 3_600_000;

/**
 * Takes jobs from workers that are gone, of any process: at once, then every `everyMs` milliseconds until the signal
 * aborts. Forgets jobs that ended long ago. Never rejects.
 */
export async function reapUntil(
  { database, log }: { readonly database: Database; readonly log: Logger },
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  let forgetAt = 0;
  while (!signal.aborted) {
    try {
      const reaped = await reapJobs(database);
      if (reaped.requeued + reaped.failed > 0) {
        log.warn({ event: 'jobs_reaped', ...reaped }, 'jobs were lost by their workers');
      }
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
