import { sql, type Queryable } from '../../store/database.ts';

/** The channel on which every process of a database hears that a match was stored, upgraded or withdrawn. */
export const MATCHES_CHANNEL = 'fullmatch_matches';

const NOTIFY = sql('notify of matches', `SELECT pg_notify($1, '')`);

/**
 * Tells every process of this database that matches changed. It runs after the commit and not inside it, since
 * PostgreSQL lets transactions that notify commit only one by one. Readers poll as well, so a lost
 * notification delays them and costs nothing else: its failure does not undo what is committed.
 */
export async function notifyOfMatches(database: Queryable): Promise<void> {
  await database.query(NOTIFY, [MATCHES_CHANNEL]).catch(() => undefined);
}
