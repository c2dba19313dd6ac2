import { sql, type Queryable } from '../../store/database.ts';

// An upgraded match may have left the compilation of the previous one.
const NOTE_SIGNED_COMPILATIONS = sql(
  'note signed compilations',
  `INSERT INTO signed_compilations AS noted (compilation_id)
   SELECT DISTINCT compilation_id FROM (
     SELECT verified_contract_id FROM match_events WHERE id = ANY ($1::bigint[]) AND kind <> 'corrected'
     UNION ALL
     SELECT before.verified_contract_id FROM match_events AS event CROSS JOIN LATERAL (
       SELECT verified_contract_id FROM match_events
       WHERE chain_id = event.chain_id AND address = event.address AND id < event.id AND kind <> 'corrected'
       ORDER BY id DESC LIMIT 1
     ) AS before
     WHERE event.id = ANY ($1::bigint[]) AND event.kind = 'upgraded'
   ) AS touched
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   ORDER BY compilation_id
   ON CONFLICT (compilation_id) DO UPDATE SET is_due = true WHERE NOT noted.is_due`,
);

/**
 * Queues the compilations whose matches these events added or removed, so that their signatures are counted
 * again. A follower of the feed.
 */
export async function queueSignedCompilations(
  transaction: Queryable,
  eventNumbers: readonly string[],
): Promise<void> {
  await transaction.query(NOTE_SIGNED_COMPILATIONS, [eventNumbers]);
}
