import { sql, type Queryable } from '../../store/database.ts';

const ADD_NAMES = sql(
  'add names',
  `INSERT INTO contract_names (compilation_id, ending)
   SELECT id, name_endings(name) FROM compiled_contracts WHERE id IN (
     SELECT compilation_id FROM verified_contracts WHERE id IN (
       SELECT verified_contract_id FROM match_events WHERE id = ANY ($1::bigint[])))
   ON CONFLICT DO NOTHING`,
);

/** Indexes the contracts of these events by name. A follower of the feed. */
export async function addNames(
  transaction: Queryable,
  eventNumbers: readonly string[],
): Promise<void> {
  await transaction.query(ADD_NAMES, [eventNumbers]);
}
