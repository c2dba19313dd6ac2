import { followFeed } from '../../src/repository/feed/follow-feed.ts';
import { sequenceEvents } from '../../src/repository/feed/sequence-events.ts';
import { type Database } from '../../src/store/database.ts';

/** Assigns positions to committed events, and brings all tables that follow from them up to date. */
export async function advanceFeed(database: Database): Promise<void> {
  while (await sequenceEvents(database));
  while ((await followFeed(database)).isBehind);
}
