import { sql, type Queryable } from '../../store/database.ts';

const MAX_FORGOTTEN = 5000;

const FORGET = sql(
  'forget old seen creations',
  `WITH old AS (
     DELETE FROM seen_creations WHERE (chain_id, address, block_number) IN (
       SELECT chain_id, address, block_number FROM seen_creations
       WHERE ended_at < now() - $1 * interval '1 day' ORDER BY ended_at LIMIT ${MAX_FORGOTTEN} FOR UPDATE SKIP LOCKED)
     RETURNING chain_id, state, reason
   ), counted AS (
     INSERT INTO forgotten_creations AS counts (chain_id, state, reason, creations)
     SELECT chain_id, state, coalesce(reason, ''), count(*) FROM old GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
     ON CONFLICT (chain_id, state, reason) DO UPDATE SET creations = counts.creations + excluded.creations
   )
   SELECT count(*)::int AS forgotten FROM old`,
);
const READ_COUNTS = sql(
  'read counts of seen creations',
  `SELECT chain_id, state, coalesce(reason, '') AS reason, sum(creations)::bigint AS creations FROM (
     SELECT chain_id, state, reason, count(*) AS creations FROM seen_creations
     WHERE chain_id = ANY ($1::bigint[]) GROUP BY 1, 2, 3
     UNION ALL SELECT chain_id, state, reason, creations FROM forgotten_creations WHERE chain_id = ANY ($1::bigint[])
   ) AS counts GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3`,
);

/** States of a creation, in their usual order. */
export const CREATION_STATES = ['waiting', 'verifying', 'verified', 'given_up', 'gone'] as const;

/** State of a creation; the last three are final. */
export type CreationState = (typeof CREATION_STATES)[number];

/** Number of creations of a chain in a state, by reason; includes deleted rows. */
export interface CreationCount {
  readonly state: CreationState;
  /** Empty if there is none, for example before the first try. */
  readonly reason: string;
  readonly creations: number;
}

/**
 * Deletes a limited number of finished rows older than the retention period; their counts remain.
 * @returns whether there may be more
 */
export async function deleteOldCreations(database: Queryable, keepDays: number): Promise<boolean> {
  const [row] = await database.query<{ forgotten: number }>(FORGET, [keepDays]);
  return row?.forgotten === MAX_FORGOTTEN;
}

/** Reads the counts of chains. Chains without creations are omitted. */
export async function readCreationCounts(
  database: Queryable,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, readonly CreationCount[]>> {
  const rows = await database.query<{
    chain_id: string;
    state: CreationState;
    reason: string;
    creations: string;
  }>(READ_COUNTS, [chainIds]);
  const counts = new Map<number, CreationCount[]>();
  for (const { chain_id, state, reason, creations } of rows) {
    const chainId = Number(chain_id);
    const ofChain = counts.get(chainId) ?? [];
    ofChain.push({ state, reason, creations: Number(creations) });
    counts.set(chainId, ofChain);
  }
  return counts;
}
