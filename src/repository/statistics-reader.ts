import { type Database } from '../store/database.ts';
import { MatchFeed } from './match-feed.ts';
import {
  type HistoryQuestion,
  readStatisticsHistory,
  type StatisticsHistory,
} from './statistics-history.ts';
import { readStatisticsOverview, type StatisticsOverview } from './statistics-overview.ts';

/** All that reads statistics and events, for those who know no database. */
export interface StatisticsReader {
  /** See {@link readStatisticsOverview}. */
  readOverview(): Promise<StatisticsOverview>;
  /** See {@link readStatisticsHistory}. */
  readHistory(question: HistoryQuestion): Promise<StatisticsHistory>;
  /** A reader of the event log that begins now. */
  createFeed(): Pick<MatchFeed, 'open' | 'readLater'>;
}

/** The reader of a database. */
export function createStatisticsReader(database: Database): StatisticsReader {
  return {
    readOverview: () => readStatisticsOverview(database),
    readHistory: (question) => readStatisticsHistory(database, question),
    createFeed: () => new MatchFeed(database),
  };
}
