import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type JobWatch } from './job-notifications.ts';

/** The jobs in flight, of all processes of the database. */
export interface QueueState {
  readonly queued: number;
  readonly running: number;
  /** When the job that waits longest was submitted, by this process's clock; absent when none waits. */
  readonly oldestQueuedAt?: Date;
}

/** The queue as it was a moment ago. */
export interface QueueWatch {
  /** Undefined while it cannot be read. */
  readonly current: QueueState | undefined;
  close(): Promise<void>;
}

/** What is asked where no notification comes. */
const POLL_MS = 2_000;
/** The least time between two looks: notifications come in bursts. */
const PAUSE_MS = 100;

// The condition is the one of the index on jobs in flight, so what ended is never read.
const READ_QUEUE = sql(
  'read queue',
  `SELECT (count(*) FILTER (WHERE state = 'queued'))::int AS queued,
     (count(*) FILTER (WHERE state = 'running'))::int AS running,
     (extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'queued')) * 1000)::float8 AS oldest_ms
   FROM verification_jobs WHERE state IN ('queued', 'running')`,
);

async function readQueue(database: Queryable): Promise<QueueState> {
  const [row] = await database.query<{
    queued: number;
    running: number;
    oldest_ms: number | null;
  }>(READ_QUEUE);
  if (row === undefined) throw new Error('counting the jobs gave no row');
  const { queued, running, oldest_ms: oldestMs } = row;
  return {
    queued,
    running,
    ...(oldestMs !== null && { oldestQueuedAt: new Date(Date.now() - Math.max(0, oldestMs)) }),
  };
}

/** Keeps the state of the queue at hand, so that nobody who asks for it waits for the database. */
export async function watchQueue(
  database: Database,
  watch: JobWatch,
  log: Logger,
): Promise<QueueWatch> {
  const closing = new AbortController();
  let current: QueueState | undefined;
  const look = async (): Promise<void> => {
    try {
      current = await readQueue(database);
    } catch (error) {
      // What was true a moment ago is not an answer to how many wait now.
      current = undefined;
      log.debug({ event: 'queue_unread', error: messageOf(error) }, 'the queue was not read');
    }
  };
  await look();
  const follow = async (): Promise<void> => {
    const { signal } = closing;
    while (!signal.aborted) {
      await watch.wait(POLL_MS, signal);
      if (signal.aborted) return;
      await look();
      await wait(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const following = follow();
  return {
    get current() {
      return current;
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}
