import { setMaxListeners } from 'node:events';
import { sql, type Database } from '../store/database.ts';

/** The channel on which every process of a database hears that a job was submitted, cancelled or ended. */
const JOBS_CHANNEL = 'fullmatch_jobs';

const NOTIFY = sql('notify of jobs', `SELECT pg_notify($1, '')`);

/** Tells every process of this database to look at the jobs. All of them look by themselves too, so a loss only delays. */
export async function notifyOfJobs(database: Database): Promise<void> {
  await database.query(NOTIFY, [JOBS_CHANNEL]).catch(() => undefined);
}

/** Wakes who waits: for the next notification, the next turn of the clock, or the end. */
export interface JobWatch {
  /** Resolves at the next notification, or after `timeoutMs`, or when `signal` aborts. Never rejects. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Listens for notifications of jobs. */
export async function watchJobs(database: Database): Promise<JobWatch> {
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const resolve of [...waiting]) resolve();
  };
  const stop = await database.listen(JOBS_CHANNEL, wake);
  return {
    wait: (timeoutMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) {
          resolve();
          return;
        }
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        waiting.add(done);
        if (signal === undefined) return;
        // All workers of a process wait on one signal, and there may be more of them than Node expects.
        setMaxListeners(0, signal);
        signal.addEventListener('abort', done);
      }),
    close: async () => {
      wake();
      await stop();
    },
  };
}
