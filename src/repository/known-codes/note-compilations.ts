import { sql, type Queryable } from '../../store/database.ts';

const NOTE_COMPILATIONS = sql(
  'note compilations',
  `INSERT INTO indexed_compilations AS noted (compilation_id, uses)
   SELECT compilation_id, count(*) FROM match_events
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   WHERE match_events.id = ANY ($1::bigint[]) AND kind IN ('stored', 'upgraded')
   GROUP BY compilation_id ORDER BY compilation_id
   ON CONFLICT (compilation_id) DO UPDATE SET uses = noted.uses + excluded.uses`,
);

/** Queues the compilations of these events for indexing. A follower of the feed. */
export async function queueCompilations(
  transaction: Queryable,
  eventNumbers: readonly string[],
): Promise<void> {
  await transaction.query(NOTE_COMPILATIONS, [eventNumbers]);
}
