import { type Database } from '../../store/database.ts';
import { MatchFeed } from '../matches/match-feed.ts';
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

/** The reader of a database; `serving` is the same for those who cannot wait. */
export function createStatisticsReader(
  database: Database,
  serving: Database = database,
): StatisticsReader {
  return {
    readOverview: () => readStatisticsOverview(serving),
    readHistory: (question) => readStatisticsHistory(serving, question),
    createFeed: () => new MatchFeed(database),
  };
}
