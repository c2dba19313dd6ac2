import { sql, type Queryable } from '../../store/database.ts';
import { type Match } from '../matches/verified-contract.ts';

/** A change of one address's match: from `before` (null: none) to `after` (null: withdrawn). */
export interface MatchChange {
  readonly chainId: number;
  readonly before: Match | null;
  readonly after: Match | null;
}

const INSERT_MISSING_COUNTS = sql(
  'insert missing counts',
  `INSERT INTO chain_counts (chain_id) SELECT unnest($1::bigint[]) AS chain_id ORDER BY chain_id ON CONFLICT DO NOTHING`,
);
const LOCK_COUNTS = sql(
  'lock counts',
  `SELECT chain_id FROM chain_counts WHERE chain_id = ANY ($1::bigint[]) ORDER BY chain_id FOR UPDATE`,
);
const ADD_TO_COUNTS = sql(
  'add to counts',
  `UPDATE chain_counts AS counts
   SET full_match = counts.full_match + delta.full_match,
       partial_match = counts.partial_match + delta.partial_match,
       updated_at = clock_timestamp()
   FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS delta (chain_id, full_match, partial_match)
   WHERE counts.chain_id = delta.chain_id`,
);

/**
 * Adds the changes to the counts of their chains, in the transaction that makes the changes. It runs last
 * there, since every writer of a chain waits for its row until the commit.
 */
export async function addToCounts(
  transaction: Queryable,
  changes: readonly MatchChange[],
): Promise<void> {
  const deltas = new Map<number, { full: number; partial: number }>();
  for (const { chainId, before, after } of changes) {
    const delta = deltas.get(chainId) ?? { full: 0, partial: 0 };
    if (before !== null) delta[before] -= 1;
    if (after !== null) delta[after] += 1;
    deltas.set(chainId, delta);
  }
  const moved = [...deltas].filter(([, delta]) => delta.full !== 0 || delta.partial !== 0);
  if (moved.length === 0) return;
  const chainIds = moved.map(([chainId]) => chainId);
  // A single chain needs no lock statement: a deadlock takes two rows.
  await transaction.query(INSERT_MISSING_COUNTS, [chainIds]);
  if (chainIds.length > 1) await transaction.query(LOCK_COUNTS, [chainIds]);
  await transaction.query(ADD_TO_COUNTS, [
    chainIds,
    moved.map(([, delta]) => delta.full),
    moved.map(([, delta]) => delta.partial),
  ]);
}
