import { setMaxListeners } from 'node:events';
import { sql, type Database } from '../../store/database.ts';

/**
 * Channel for job notifications to all processes of a database. The payload is the id of an ended job, or
 * empty if jobs are waiting.
 */
const JOBS_CHANNEL = 'fullmatch_jobs';

const NOTIFY_WORK = sql('notify of waiting jobs', `SELECT pg_notify($1, '')`);
const NOTIFY_ENDS = sql(
  'notify of ended jobs',
  `SELECT pg_notify($1, id) FROM unnest($2::text[]) AS ended (id)`,
);

/**
 * Notifies all processes of this database that jobs are waiting. Workers also poll, so a lost notification
 * only causes a delay.
 */
export async function notifyOfWork(database: Database): Promise<void> {
  await database.query(NOTIFY_WORK, [JOBS_CHANNEL]).catch(() => undefined);
}

/** Notifies all processes of this database of ended jobs. Waiting requests also poll. */
export async function notifyOfEnds(database: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await database.query(NOTIFY_ENDS, [JOBS_CHANNEL, ids]).catch(() => undefined);
}

/** Subscription to job notifications, one per process. */
export interface JobWatch {
  /** Resolves at the next notification, or after `timeoutMs`, or when `signal` aborts. Never rejects. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back with the id of each job that ends or is cancelled; without an id if notifications may have
   * been lost.
   */
  onEnd(listener: (id?: string) => void): void;
  close(): Promise<void>;
}

/** Subscribes to job notifications. */
export async function watchJobs(database: Database): Promise<JobWatch> {
  const waiting = new Set<() => void>();
  const listeners: ((id?: string) => void)[] = [];
  const wake = (): void => {
    for (const resolve of [...waiting]) resolve();
  };
  const stop = await database.listen(JOBS_CHANNEL, (payload) => {
    wake();
    if (payload !== '') for (const listener of listeners) listener(payload);
  });
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
        // All workers of a process wait on one signal; their number may exceed Node's default listener limit.
        setMaxListeners(0, signal);
        signal.addEventListener('abort', done);
      }),
    onEnd: (listener) => listeners.push(listener),
    close: async () => {
      wake();
      await stop();
    },
  };
}
