import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { addNames } from '../lists/add-names.ts';
import { rollUpEvents } from '../statistics/roll-up-events.ts';
import { sequenceEvents } from './sequence-events.ts';

/** Events that a follower takes in one transaction. */
const BATCH = 2_000;

/** What follows the feed in tables: it is told each event once, in the transaction that moves its position. */
const FOLLOWERS: Readonly<
  Record<string, (transaction: Queryable, eventIds: readonly string[]) => Promise<void>>
> = { statistics: rollUpEvents, names: addNames };

const READ_FOLLOWERS = sql(
  'read followers of the feed',
  `SELECT name, position < (SELECT coalesce(max(position), 0) FROM feed) AS is_behind FROM feed_followers`,
);
const READ_NEXT_EVENTS = sql(
  'read next events of a follower',
  `SELECT position, event_id FROM feed
   WHERE position > (SELECT position FROM feed_followers WHERE name = $1) ORDER BY position LIMIT $2`,
);
const READ_POSITION = sql(
  'read position of the statistics',
  `SELECT position FROM feed_followers WHERE name = 'statistics'`,
);
const MOVE_FOLLOWER = sql(
  'move follower',
  'UPDATE feed_followers SET position = $2 WHERE name = $1',
);

/**
 * Brings the statistics over time and the names to the end of the feed, a batch in a transaction. Processes take turns.
 * @returns the position of the statistics
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function followFeed(database: Database): Promise<string> {
  const followers = await database.query<{ name: string; is_behind: boolean }>(READ_FOLLOWERS);
  for (const { name, is_behind } of followers) {
    for (let isBehind = is_behind; isBehind;) isBehind = await takeBatch(database, name);
  }
  const [statistics] = await database.query<{ position: string }>(READ_POSITION);
  return statistics?.position ?? '0';
}

/** Gives committed events their positions, and brings all that follows from them in tables there. */
export async function advanceFeed(database: Database): Promise<void> {
  await sequenceEvents(database);
  await followFeed(database);
}

/** @returns whether there may be more */
async function takeBatch(database: Database, name: string): Promise<boolean> {
  const follow = FOLLOWERS[name];
  if (follow === undefined) return false;
  return database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'followers');
    const events = await transaction.query<{ position: string; event_id: string }>(
      READ_NEXT_EVENTS,
      [name, BATCH],
    );
    const last = events.at(-1);
    if (last === undefined) return false;
    await follow(
      transaction,
      events.map(({ event_id }) => event_id),
    );
    await transaction.query(MOVE_FOLLOWER, [name, last.position]);
    return events.length === BATCH;
  });
}
