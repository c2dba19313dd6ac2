import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type Origin, type Trust } from '../matches/verified-contract.ts';

/** Contracts by their best match. */
export interface MatchCounts {
  readonly full: number;
  readonly partial: number;
}

/** Counts of all contracts, and of those among them that are claims: imported, and not verified here. */
export interface CountsWithClaims extends MatchCounts {
  readonly claimed: MatchCounts;
}

/** Counts of a chain, and the time of its last verification. */
export interface ChainOverview extends CountsWithClaims {
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
  readonly changes: { readonly day: CountsWithClaims; readonly week: CountsWithClaims };
  /** Ascending by chain id. */
  readonly chains: readonly ChainOverview[];
  readonly origins: Readonly<Record<Origin, MatchCounts>>;
  readonly trusts: Readonly<Record<Trust, MatchCounts>>;
  /** Compilers with current matches, most used first. */
  readonly compilers: readonly (CountsWithClaims & {
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
/** Columns with counts. */
export const COUNT_COLUMNS = [
  'full_match',
  'partial_match',
  'full_claims',
  'partial_claims',
] as const;
/** SQL: the sums of the counts, 0 without a row. */
export const COUNT_SUMS = COUNT_COLUMNS.map(
  (column) => `coalesce(sum(${column}), 0) AS ${column}`,
).join(', ');

const READ_CHAINS = sql(
  'read chains of the overview',
  `SELECT chain_id, ${COUNT_COLUMNS.join(', ')}, codes, first_verified_at, last_verified_at
   FROM chain_activity ORDER BY chain_id`,
);
const READ_CHANGES = sql(
  'read changes of the overview',
  `SELECT span, ${COUNT_SUMS}
   FROM (VALUES ('day', interval '24 hours'), ('week', interval '7 days')) AS spans (span, length)
   LEFT JOIN hourly_totals ON hour >= now() - length GROUP BY span`,
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
    const chains = await transaction.query<ChainRow>(READ_CHAINS);
    const changes = await transaction.query<CountRow & { span: string }>(READ_CHANGES);
    const compilers = await transaction.query<CompilerRow>(READ_COMPILERS);
    const change = (wanted: 'day' | 'week'): CountsWithClaims =>
      countsOf(changes.find(({ span }) => span === wanted));
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

/** Columns with counts, of one row or summed. */
export type CountRow = Record<(typeof COUNT_COLUMNS)[number], string>;

interface ChainRow extends CountRow {
  chain_id: string;
  codes: string;
  first_verified_at: Date | null;
  last_verified_at: Date | null;
}

interface CompilerRow {
  origin: Origin;
  trust: Trust;
  language: string;
  version: string;
  full_match: string;
  partial_match: string;
}

/** Returns the counts of a row, or zeros without one. */
export const countsOf = (row?: CountRow): CountsWithClaims => ({
  full: Number(row?.full_match ?? 0),
  partial: Number(row?.partial_match ?? 0),
  claimed: { full: Number(row?.full_claims ?? 0), partial: Number(row?.partial_claims ?? 0) },
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
    const counts = { full: Number(row.full_match), partial: Number(row.partial_match) };
    origins[origin] = add(origins[origin], counts);
    trusts[trust] = add(trusts[trust], counts);
    const key = `${language} ${version}`;
    const known = compilers.get(key) ?? { ...none, claimed: none };
    const claimed = origin === 'imported' ? add(known.claimed, counts) : known.claimed;
    compilers.set(key, { language, version, ...add(known, counts), claimed });
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
