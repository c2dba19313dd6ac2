import { type Database } from '../../store/database.ts';
import { FeedReader } from '../feed/feed-reader.ts';
import { type FollowedFeed, followFeed } from '../feed/follow-feed.ts';
import { sequenceEvents } from '../feed/sequence-events.ts';
import {
  type HistoryQuery,
  readStatisticsHistory,
  type StatisticsHistory,
} from './statistics-history.ts';
import { readStatisticsOverview, type StatisticsOverview } from './statistics-overview.ts';

/** Reads and advances statistics and feed, for callers that do not know the database. */
export interface StatisticsReader {
  /** See {@link readStatisticsOverview}. */
  readOverview(): Promise<StatisticsOverview>;
  /** See {@link readStatisticsHistory}. */
  readHistory(question: HistoryQuery): Promise<StatisticsHistory>;
  /** A feed reader with its own position. */
  createFeedReader(): Pick<FeedReader, 'open' | 'readLater'>;
  /** See {@link sequenceEvents}. */
  sequenceEvents(): Promise<boolean>;
  /** See {@link followFeed}. */
  followFeed(): Promise<FollowedFeed>;
}

/** Binds the reader to a database; `serving` is the same database with a deadline. */
export function createStatisticsReader(
  database: Database,
  serving: Database = database,
): StatisticsReader {
  return {
    readOverview: () => readStatisticsOverview(serving),
    readHistory: (question) => readStatisticsHistory(serving, question),
    createFeedReader: () => new FeedReader(database),
    sequenceEvents: () => sequenceEvents(database),
    followFeed: () => followFeed(database),
  };
}
