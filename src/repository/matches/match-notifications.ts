import { sql, type Queryable } from '../../store/database.ts';

/** Channel that notifies every process of a database that a match was stored, upgraded or withdrawn. */
export const MATCHES_CHANNEL = 'fullmatch_matches';

const NOTIFY = sql('notify of matches', `SELECT pg_notify($1, '')`);

/**
 * Notifies every process of this database that matches changed. It runs after the commit instead of inside
 * it, since PostgreSQL serialises the commits of transactions that notify. Readers poll as well, so a lost
 * notification only delays them: its failure does not undo the commit.
 */
export async function notifyOfMatches(database: Queryable): Promise<void> {
  await database.query(NOTIFY, [MATCHES_CHANNEL]).catch(() => undefined);
}
