import { sql, type Database } from '../../store/database.ts';
import {
  COUNT_COLUMNS,
  COUNT_SUMS,
  countsOf,
  type CountRow,
  type CountsWithClaims,
  ONE_SNAPSHOT,
  readStatisticsProgress,
  type StatisticsProgress,
} from './statistics-overview.ts';

/** A UTC calendar day, such as `2026-02-03`. */
export type Day = string;

/** Interval between the points of a history; weeks begin on Mondays (ISO 8601). */
export type HistoryInterval = 'day' | 'week' | 'month';

/** The requested history. Both days are included. */
export interface HistoryQuery {
  readonly interval: HistoryInterval;
  readonly from: Day;
  readonly to: Day;
  /** Absent: all chains together. */
  readonly chainIds?: readonly number[];
}

/** Counts at the end of an interval, named by its last day, or by the last requested day. */
export interface HistoryPoint extends CountsWithClaims {
  readonly date: Day;
}

/** Withdrawals of one day on one chain for one reason; the counts are negative. */
export interface HistoryWithdrawal extends HistoryPoint {
  readonly chainId: number;
  readonly reason: string;
}

/** Counts over time, consistent at one position of the feed. */
export interface StatisticsHistory extends Pick<StatisticsProgress, 'position'> {
  readonly points: readonly HistoryPoint[];
  readonly withdrawals: readonly HistoryWithdrawal[];
}

const COUNTS = COUNT_COLUMNS.join(', ');

/** Changes of each day since `from`, and the counts after them. */
export const READ_ALL = sql(
  'read history of all chains',
  `SELECT day::text AS day, ${COUNTS} FROM daily_totals WHERE day >= $1::date
   UNION ALL
   SELECT NULL, ${COUNT_SUMS} FROM chain_activity`,
);
/** The same for selected chains. */
export const READ_CHAINS = sql(
  'read history of chains',
  `SELECT day::text AS day, ${COUNT_SUMS}
   FROM daily_counts WHERE day >= $1::date AND chain_id = ANY ($2::bigint[]) GROUP BY daily_counts.day
   UNION ALL
   SELECT NULL, ${COUNT_SUMS} FROM chain_activity WHERE chain_id = ANY ($2::bigint[])`,
);
const READ_WITHDRAWALS = sql(
  'read withdrawals',
  `SELECT day::text AS date, chain_id, ${COUNTS}, reason FROM daily_falls
   WHERE day BETWEEN $1::date AND $2::date AND ($3::bigint[] IS NULL OR chain_id = ANY ($3::bigint[]))
   ORDER BY day, chain_id, reason COLLATE "C"`,
);

interface SumRow extends CountRow {
  /** null: the counts after all changes. */
  day: Day | null;
}

interface WithdrawalRow extends CountRow {
  date: Day;
  chain_id: string;
  reason: string;
}

/**
 * Computes the counts at the end of each interval, without gaps, and the reasons of decreases.
 *
 * It starts from the current counts and subtracts later changes, so that only the days since `from` are read,
 * and the last point of a history that ends today equals the overview at the same position.
 */
export async function readStatisticsHistory(
  database: Database,
  { interval, from, to, chainIds }: HistoryQuery,
): Promise<StatisticsHistory> {
  return database.transaction(async (transaction) => {
    await transaction.query(ONE_SNAPSHOT);
    const { position } = await readStatisticsProgress(transaction);
    const rows =
      chainIds === undefined
        ? await transaction.query<SumRow>(READ_ALL, [from])
        : await transaction.query<SumRow>(READ_CHAINS, [from, chainIds]);
    const withdrawals = await transaction.query<WithdrawalRow>(READ_WITHDRAWALS, [
      from,
      to,
      chainIds ?? null,
    ]);
    return {
      position,
      points: pointsOf(rows, listEnds(interval, from, to)),
      withdrawals: withdrawals.map((row) => ({
        date: row.date,
        chainId: Number(row.chain_id),
        ...countsOf(row),
        reason: row.reason,
      })),
    };
  });
}

function pointsOf(rows: readonly SumRow[], ends: readonly Day[]): HistoryPoint[] {
  let counts: CountsWithClaims = { full: 0, partial: 0, claimed: { full: 0, partial: 0 } };
  const changes: HistoryPoint[] = [];
  for (const row of rows) {
    if (row.day === null) counts = countsOf(row);
    else changes.push({ date: row.day, ...countsOf(row) });
  }
  // Days in this form sort as text.
  changes.sort((left, right) => (left.date < right.date ? -1 : 1));
  const points: HistoryPoint[] = [];
  for (const date of [...ends].reverse()) {
    for (let last = changes.at(-1); last !== undefined && last.date > date; last = changes.at(-1)) {
      counts = subtract(counts, last);
      changes.pop();
    }
    points.push({ date, ...counts });
  }
  return points.reverse();
}

const subtract = (left: CountsWithClaims, right: CountsWithClaims): CountsWithClaims => ({
  full: left.full - right.full,
  partial: left.partial - right.partial,
  claimed: {
    full: left.claimed.full - right.claimed.full,
    partial: left.claimed.partial - right.claimed.partial,
  },
});

const DAY_MS = 86_400_000;
const timeOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (time: number): Day => new Date(time).toISOString().slice(0, 10);

/** The last days of the intervals from the one of `from` to the one of `to`, which is the last. */
function listEnds(interval: HistoryInterval, from: Day, to: Day): readonly Day[] {
  const ends: Day[] = [];
  const last = timeOf(to);
  for (let start = startOf(interval, timeOf(from)); start <= last;) {
    const next = nextOf(interval, start);
    ends.push(dayOf(Math.min(next - DAY_MS, last)));
    start = next;
  }
  return ends;
}

function startOf(interval: HistoryInterval, time: number): number {
  const date = new Date(time);
  if (interval === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  if (interval === 'week') return time - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return time;
}

function nextOf(interval: HistoryInterval, start: number): number {
  const date = new Date(start);
  if (interval === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return start + (interval === 'week' ? 7 : 1) * DAY_MS;
}
