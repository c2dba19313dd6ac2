import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database } from '../../store/database.ts';

/** Events that receive positions in one transaction. */
const BATCH = 10_000;

const IS_QUEUED = sql('are events queued', 'SELECT EXISTS (SELECT FROM feed_queue) AS is_queued');
// Events of a contract have ascending ids in commit order. A restored dump may contain queued events that
// already have positions.
const NUMBER_EVENTS = sql(
  'number events',
  `WITH taken AS (
     DELETE FROM feed_queue
     WHERE event_id = ANY (ARRAY(SELECT event_id FROM feed_queue ORDER BY event_id LIMIT $1))
     RETURNING event_id
   ), numbered AS (
     INSERT INTO feed (position, event_id)
     SELECT (SELECT coalesce(max(position), 0) FROM feed) + row_number() OVER (ORDER BY event_id), event_id
     FROM taken WHERE NOT EXISTS (SELECT FROM feed WHERE feed.event_id = taken.event_id)
   )
   SELECT count(*) AS taken FROM taken`,
);

/**
 * Assigns feed positions to a batch of committed events that have none. Processes take turns, and each waits
 * for its turn: when this returns false, all events that were committed before the call have positions.
 *
 * The lock is held until the commit, and the statement under it sees what its previous holder committed. So
 * positions have no gaps, and a lower position never appears after a higher one. An aborted run leaves the
 * queue unchanged.
 *
 * @returns whether there may be more
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function sequenceEvents(database: Database): Promise<boolean> {
  const [queue] = await database.query<{ is_queued: boolean }>(IS_QUEUED);
  if (queue?.is_queued !== true) return false;
  return database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'feed');
    const [batch] = await transaction.query<{ taken: string }>(NUMBER_EVENTS, [BATCH]);
    return Number(batch?.taken) === BATCH;
  });
}
