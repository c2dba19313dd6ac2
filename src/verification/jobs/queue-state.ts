import { messageOf } from '../../errors.ts';
import { repeatUntilClosed } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type JobWatch } from './job-notifications.ts';

/** Number of jobs in flight, in all processes of the database. */
export interface QueueState {
  readonly queued: number;
  readonly running: number;
  /** Submission time of the oldest queued job, by this process's clock; absent if none is queued. */
  readonly oldestQueuedAt?: Date;
}

/** A recent snapshot of the queue. */
export interface QueueWatch {
  /** Undefined while the queue cannot be read. */
  readonly current: QueueState | undefined;
  close(): Promise<void>;
}

/** Polling interval without notifications. */
const POLL_MS = 2_000;
/** Minimum interval between two reads: notifications come in bursts. */
const PAUSE_MS = 100;

// Same condition as the index on jobs in flight, so ended jobs are never read.
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

/** Keeps a snapshot of the queue in memory, so that readers do not wait for the database. */
export async function watchQueue(
  database: Database,
  watch: JobWatch,
  log: Logger,
): Promise<QueueWatch> {
  let current: QueueState | undefined;
  const onFailure = (error: unknown): void => {
    // A stale snapshot must not be reported as the current state.
    current = undefined;
    log.debug({ event: 'queue_unread', error: messageOf(error) }, 'the queue was not read');
  };
  try {
    current = await readQueue(database);
  } catch (error) {
    onFailure(error);
  }
  const follow = async (signal: AbortSignal): Promise<number> => {
    await watch.wait(POLL_MS, signal);
    if (!signal.aborted) current = await readQueue(database);
    return PAUSE_MS;
  };
  const following = repeatUntilClosed(follow, { retryMs: PAUSE_MS, onFailure });
  return {
    get current() {
      return current;
    },
    close: () => following.close(),
  };
}
