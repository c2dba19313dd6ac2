import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type Origin, type Trust } from '../matches/verified-contract.ts';

/** Contracts by their best match. */
export interface MatchCounts {
  readonly full: number;
  readonly partial: number;
}

/** Counts of a chain, and the time of its last verification. */
export interface ChainOverview extends MatchCounts {
  readonly chainId: number;
  readonly firstVerifiedAt: Date | null;
  readonly lastVerifiedAt: Date | null;
}

/** How far the statistics have counted. */
export interface StatisticsProgress {
  /** Time until which no uncounted event exists. */
  readonly asOf: Date;
  /** Feed position up to which events are counted; `0` before the first. */
  readonly position: string;
}

/** All counts of the service, consistent at one position of the feed. */
export interface StatisticsOverview extends StatisticsProgress {
  /** Number of the newest counted event; `0` before the first. */
  readonly eventNumber: string;
  /** Distinct runtime bytecodes that were ever verified, as far as they are known. */
  readonly uniqueCodes: number;
  /** Changes of the counts in the last 24 hours and 7 days, by whole hours. */
  readonly changes: { readonly day: MatchCounts; readonly week: MatchCounts };
  /** Ascending by chain id. */
  readonly chains: readonly ChainOverview[];
  readonly origins: Readonly<Record<Origin, MatchCounts>>;
  readonly trusts: Readonly<Record<Trust, MatchCounts>>;
  /** Compilers with current matches, most used first. */
  readonly compilers: readonly (MatchCounts & {
    readonly language: string;
    readonly version: string;
  })[];
}

/** Takes one snapshot for all later statements of a transaction. */
export const ONE_SNAPSHOT = sql(
  'read from one snapshot',
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
);
// While an event is not counted yet, the time is that event's instead of now.
const READ_PROGRESS = sql(
  'read progress of the statistics',
  `SELECT position, coalesce((SELECT event_id FROM feed WHERE feed.position = followers.position), 0) AS event_number,
     coalesce((
       SELECT recorded_at FROM match_events WHERE id = coalesce(
         (SELECT event_id FROM feed WHERE feed.position > followers.position ORDER BY feed.position LIMIT 1),
         (SELECT min(event_id) FROM feed_queue))
     ), statement_timestamp()) AS as_of
   FROM feed_followers AS followers WHERE name = 'statistics'`,
);
const READ_CHAINS = sql(
  'read chains of the overview',
  `SELECT chain_id, full_match, partial_match, codes, first_verified_at, last_verified_at
   FROM chain_activity ORDER BY chain_id`,
);
const READ_CHANGES = sql(
  'read changes of the overview',
  `SELECT coalesce(sum(full_match) FILTER (WHERE hour >= now() - interval '24 hours'), 0) AS day_full,
     coalesce(sum(partial_match) FILTER (WHERE hour >= now() - interval '24 hours'), 0) AS day_partial,
     coalesce(sum(full_match), 0) AS week_full, coalesce(sum(partial_match), 0) AS week_partial
   FROM hourly_totals WHERE hour >= now() - interval '7 days'`,
);
const READ_COMPILERS = sql(
  'read compilers of the overview',
  `SELECT origin, trust, language, version, sum(full_match) AS full_match, sum(partial_match) AS partial_match
   FROM compiler_counts GROUP BY origin, trust, language, version`,
);

/** How far the statistics have counted, read in the transaction's snapshot. */
export async function readStatisticsProgress(
  transaction: Queryable,
): Promise<StatisticsProgress & Pick<StatisticsOverview, 'eventNumber'>> {
  const [progress] = await transaction.query<{
    position: string;
    event_number: string;
    as_of: Date;
  }>(READ_PROGRESS);
  return {
    asOf: progress?.as_of ?? new Date(),
    position: progress?.position ?? '0',
    eventNumber: progress?.event_number ?? '0',
  };
}

/**
 * Reads all counts from one snapshot of the database. It reads sums that follow the feed, so the cost does
 * not depend on the number of contracts.
 */
export async function readStatisticsOverview(database: Database): Promise<StatisticsOverview> {
  return database.transaction(async (transaction) => {
    await transaction.query(ONE_SNAPSHOT);
    const progress = await readStatisticsProgress(transaction);
    const chains = await transaction.query<{
      chain_id: string;
      full_match: string;
      partial_match: string;
      codes: string;
      first_verified_at: Date | null;
      last_verified_at: Date | null;
    }>(READ_CHAINS);
    const [changes] = await transaction.query<Record<string, string>>(READ_CHANGES);
    const compilers = await transaction.query<CompilerRow>(READ_COMPILERS);
    const change = (span: 'day' | 'week'): MatchCounts => ({
      full: Number(changes?.[`${span}_full`] ?? 0),
      partial: Number(changes?.[`${span}_partial`] ?? 0),
    });
    return {
      ...progress,
      uniqueCodes: chains.reduce((total, { codes }) => total + Number(codes), 0),
      changes: { day: change('day'), week: change('week') },
      chains: chains.map((row) => ({
        chainId: Number(row.chain_id),
        ...countsOf(row),
        firstVerifiedAt: row.first_verified_at,
        lastVerifiedAt: row.last_verified_at,
      })),
      ...sumCompilers(compilers),
    };
  });
}

interface CompilerRow {
  origin: Origin;
  trust: Trust;
  language: string;
  version: string;
  full_match: string;
  partial_match: string;
}

const countsOf = (row: { full_match: string; partial_match: string }): MatchCounts => ({
  full: Number(row.full_match),
  partial: Number(row.partial_match),
});

function sumCompilers(
  rows: readonly CompilerRow[],
): Pick<StatisticsOverview, 'origins' | 'trusts' | 'compilers'> {
  const add = (left: MatchCounts, right: MatchCounts): MatchCounts => ({
    full: left.full + right.full,
    partial: left.partial + right.partial,
  });
  const none: MatchCounts = { full: 0, partial: 0 };
  const origins = { verified: none, imported: none, monitored: none };
  const trusts = { claimed: none, rechecked: none, recompiled: none, verified: none };
  const compilers = new Map<string, StatisticsOverview['compilers'][number]>();
  for (const row of rows) {
    const { origin, trust, language, version } = row;
    const counts = countsOf(row);
    origins[origin] = add(origins[origin], counts);
    trusts[trust] = add(trusts[trust], counts);
    const key = `${language} ${version}`;
    compilers.set(key, { language, version, ...add(compilers.get(key) ?? none, counts) });
  }
  const sizeOf = ({ full, partial }: MatchCounts): number => full + partial;
  const compare = (left: string, right: string): number => (left < right ? -1 : 1);
  return {
    origins,
    trusts,
    compilers: [...compilers]
      .filter(([, counts]) => sizeOf(counts) > 0)
      .sort(([leftKey, left], [rightKey, right]) =>
        sizeOf(left) === sizeOf(right) ? compare(leftKey, rightKey) : sizeOf(right) - sizeOf(left),
      )
      .map(([, counts]) => counts),
  };
}
