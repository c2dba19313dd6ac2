import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { queueCompilations } from '../known-codes/note-compilations.ts';
import { addNames } from '../lists/add-names.ts';
import { queueSignedCompilations } from '../signatures/note-signed-compilations.ts';
import { rollUpEvents } from '../statistics/roll-up-events.ts';

/** Events that a follower processes in one transaction. */
const BATCH = 2_000;

/** Followers that maintain tables. Each receives every event once, in the transaction that moves its position. */
const FOLLOWERS: Readonly<
  Record<string, (transaction: Queryable, eventNumbers: readonly string[]) => Promise<void>>
> = {
  statistics: rollUpEvents,
  names: addNames,
  known_codes: queueCompilations,
  signatures: queueSignedCompilations,
};

const READ_FOLLOWERS = sql(
  'read followers of the feed',
  `SELECT name, position < (SELECT coalesce(max(position), 0) FROM feed) AS is_behind FROM feed_followers
   ORDER BY name`,
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

const READ_LAGS = sql(
  'read lags of the followers',
  `SELECT name, ((SELECT coalesce(max(position), 0) FROM feed) - position)::float8 AS behind FROM feed_followers
   ORDER BY name`,
);

/** Number of events that each follower still has to process, by table. */
export async function readFeedLags(
  database: Queryable,
): Promise<readonly { readonly name: string; readonly behind: number }[]> {
  return database.query<{ name: string; behind: number }>(READ_LAGS);
}

/** Progress of the followers. */
export interface FollowedFeed {
  /** Position of the statistics. */
  readonly position: string;
  /** Whether a follower may have more to process. */
  readonly isBehind: boolean;
}

/**
 * Advances the statistics over time and the name index by one batch each, in a transaction. Processes take
 * turns. A failing follower does not stop the others.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function followFeed(database: Database): Promise<FollowedFeed> {
  const followers = await database.query<{ name: string; is_behind: boolean }>(READ_FOLLOWERS);
  let isBehind = false;
  let fault: Error | undefined;
  for (const { name, is_behind } of followers) {
    if (!is_behind) continue;
    try {
      if (await takeBatch(database, name)) isBehind = true;
    } catch (error) {
      fault ??= error as Error;
    }
  }
  if (fault !== undefined) throw fault;
  const [statistics] = await database.query<{ position: string }>(READ_POSITION);
  return { position: statistics?.position ?? '0', isBehind };
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
