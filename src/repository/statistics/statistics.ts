import { sql, type Queryable } from '../../store/database.ts';
import { type MatchCounts } from './statistics-overview.ts';

/** Counts of one chain: contracts by their best match. */
export interface ChainStatistics {
  readonly chainId: number;
  readonly full: number;
  readonly partial: number;
}

/** Counts of all chains that ever stored a contract, from one snapshot of the database. */
export interface Statistics {
  /** Ascending by chain id. */
  readonly chains: readonly ChainStatistics[];
  /** When a count last changed; if none ever did, when the database was created. */
  readonly lastModified: Date;
}

// Only the first row has the time: reading one for each chain dominates the query, which runs twice a second.
const READ_COUNTS = sql(
  'read counts',
  `SELECT chain_id, full_match, partial_match,
     CASE WHEN chain_id = min(chain_id) OVER () THEN max(updated_at) OVER () END AS last_modified
   FROM chain_counts ORDER BY chain_id`,
);
const READ_FIRST_MIGRATION = sql(
  'read first migration',
  `SELECT applied_at FROM schema_migrations ORDER BY number LIMIT 1`,
);

/** Reads the counts in one statement, hence from one snapshot. */
export async function readStatistics(database: Queryable): Promise<Statistics> {
  const rows = await database.query<{
    chain_id: string;
    full_match: string;
    partial_match: string;
    last_modified: Date | null;
  }>(READ_COUNTS);
  return {
    chains: rows.map((row) => ({
      chainId: Number(row.chain_id),
      full: Number(row.full_match),
      partial: Number(row.partial_match),
    })),
    lastModified: rows[0]?.last_modified ?? (await readMakingTime(database)),
  };
}

// The statistics over time follow the stored matches: while they are behind, they do not say which of these are claims.
const READ_CLAIMS = sql(
  'read claims',
  `SELECT coalesce(sum(full_claims), 0) AS full_match, coalesce(sum(partial_claims), 0) AS partial_match
   FROM chain_activity
   HAVING NOT EXISTS (SELECT FROM feed_queue) AND (SELECT coalesce(max(position), 0) FROM feed)
     = (SELECT position FROM feed_followers WHERE name = 'statistics')`,
);

/** How many of the counted contracts are claims: imported, and not verified here. Undefined if not known yet. */
export async function readClaims(database: Queryable): Promise<MatchCounts | undefined> {
  const [row] = await database.query<{ full_match: string; partial_match: string }>(READ_CLAIMS);
  return row && { full: Number(row.full_match), partial: Number(row.partial_match) };
}

/** The chains that ever stored a contract, ascending. */
export async function readContractChainIds(database: Queryable): Promise<readonly number[]> {
  return (await readStatistics(database)).chains.map(({ chainId }) => chainId);
}

async function readMakingTime(database: Queryable): Promise<Date> {
  const [row] = await database.query<{ applied_at: Date }>(READ_FIRST_MIGRATION);
  return row?.applied_at ?? new Date(0);
}

/**
 * Renders `stats.json`. The keys are written explicitly because an object with integer-like keys is
 * enumerated in the engine's order, which is numeric only below 2^32 - 1.
 */
export function renderStatistics({ chains }: Statistics): Buffer {
  const members = chains.map(
    ({ chainId, full, partial }) =>
      `"${chainId}":{"full_match":${full},"partial_match":${partial}}`,
  );
  return Buffer.from(`{${members.join(',')}}`, 'utf8');
}
