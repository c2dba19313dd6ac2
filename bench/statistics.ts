/**
 * Statistics over time for a year of 400 chains: `npx tsx bench/statistics.ts`. The queries read daily,
 * hourly and compiler sums, so the figures hold for any number of contracts; each is compared with `SELECT 1`
 * on the same server.
 */
import path from 'node:path';
import { silentLogger } from '../src/log.ts';
import {
  type HistoryInterval,
  readStatisticsHistory,
} from '../src/repository/statistics/statistics-history.ts';
import { readStatisticsOverview } from '../src/repository/statistics/statistics-overview.ts';
import { sql, type Statement } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { median } from './median.ts';

const CHAINS = 400;
const DAYS = 365;
const VERSIONS = 40;
const ROUNDS = 30;

const FILL: readonly Statement[] = [
  `INSERT INTO daily_counts SELECT chain, current_date - day, 1 + chain % 7, day % 5
   FROM generate_series(1, ${CHAINS}) AS chain, generate_series(0, ${DAYS - 1}) AS day`,
  `INSERT INTO chain_counts SELECT chain_id, sum(full_match), sum(partial_match), now() FROM daily_counts GROUP BY chain_id`,
  `INSERT INTO daily_totals SELECT day, sum(full_match), sum(partial_match) FROM daily_counts GROUP BY day`,
  `INSERT INTO hourly_totals SELECT date_trunc('hour', now()) - hour * interval '1 hour', 1, 1
   FROM generate_series(0, 190) AS hour`,
  `INSERT INTO compiler_counts SELECT chain, 'verified', 'solidity', '0.8.' || version, 5, 5, 'verified'
   FROM generate_series(1, ${CHAINS}) AS chain, generate_series(1, ${VERSIONS}) AS version`,
  `INSERT INTO chain_activity SELECT chain_id, 1, 1, now(), now(), full_match, partial_match FROM chain_counts`,
  'VACUUM ANALYZE',
].map((text, index) => sql(`bench fill ${index}`, text));

/** One line of the table, in milliseconds. */
interface StatisticsBenchmarkRow {
  readonly what: string;
  readonly medianMs: string;
  readonly reference: string;
  readonly ratio: string;
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return median(times);
}

async function run(): Promise<StatisticsBenchmarkRow[]> {
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const store = await openStore(
    { poolSize: 4, dataDir: path.join(folder.path, 'data') },
    silentLogger,
  );
  try {
    const { database } = store;
    for (const statement of FILL) await database.query(statement);
    const dayBefore = (days: number): string =>
      new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const reference = await measure(() => database.query(sql('bench select', 'SELECT 1')));
    const row = async (
      what: string,
      work: () => Promise<unknown>,
    ): Promise<StatisticsBenchmarkRow> => {
      const time = await measure(work);
      return {
        what,
        medianMs: time.toFixed(2),
        reference: reference.toFixed(2),
        ratio: (time / reference).toFixed(1),
      };
    };
    const history = (
      what: string,
      interval: HistoryInterval,
      days: number,
      chains?: number,
    ): Promise<StatisticsBenchmarkRow> =>
      row(`history: ${what}`, () =>
        readStatisticsHistory(database, {
          interval,
          from: dayBefore(days - 1),
          to: dayBefore(0),
          ...(chains !== undefined && {
            chainIds: Array.from({ length: chains }, (_, index) => index + 1),
          }),
        }),
      );
    return [
      await history('a year by day, all chains', 'day', DAYS),
      await history('a year by week, all chains', 'week', DAYS),
      await history('a year by month, all chains', 'month', DAYS),
      await history('90 days by day, all chains', 'day', 90),
      await history('a year by day, 10 chains', 'day', DAYS, 10),
      await history('a year by day, 100 chains', 'day', DAYS, 100),
      await history('a year by month, 100 chains', 'month', DAYS, 100),
      await history('a year by day, 400 chains by name', 'day', DAYS, CHAINS),
      await row('totals, changes, chains and compilers', () => readStatisticsOverview(database)),
    ];
  } finally {
    await store.close();
    await folder.remove();
  }
}

console.table(await run());
