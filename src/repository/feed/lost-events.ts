import { type EventMark } from '../../store/acknowledged-events.ts';
import { sql, type Queryable } from '../../store/database.ts';

const MARK = 'extract(epoch FROM recorded_at)::text';
/** Number of the newest events stored by others that are recorded as well. */
const NOTED = 8;

const FIND_LOST = sql(
  'find lost events',
  `SELECT sent.id::text, sent.recorded_at FROM unnest($1::bigint[], $2::text[]) AS sent (id, recorded_at)
   WHERE NOT EXISTS (
     SELECT FROM match_events WHERE match_events.id = sent.id
       AND extract(epoch FROM match_events.recorded_at)::text = sent.recorded_at)`,
);
const READ_NEWEST = sql(
  'read newest events',
  `SELECT id::text, ${MARK} AS recorded_at FROM match_events ORDER BY match_events.id DESC LIMIT ${NOTED}`,
);
const READ_IDENTITY = sql(
  'read when the database was made',
  `SELECT current_database() || ' ' || extract(epoch FROM applied_at)::text AS made
   FROM schema_migrations ORDER BY number LIMIT 1`,
);

/** Those of the given events that the database does not have. */
export async function findLostEvents(
  database: Queryable,
  sent: readonly EventMark[],
): Promise<readonly EventMark[]> {
  const rows = await database.query<{ id: string; recorded_at: string }>(FIND_LOST, [
    sent.map(({ id }) => id),
    sent.map(({ recordedAt }) => recordedAt),
  ]);
  const lost = new Set(rows.map((row) => `${row.id} ${row.recorded_at}`));
  return sent.filter(({ id, recordedAt }) => lost.has(`${id} ${recordedAt}`));
}

/** The newest events of the log, newest last. */
export async function readNewestMarks(database: Queryable): Promise<readonly EventMark[]> {
  const rows = await database.query<{ id: string; recorded_at: string }>(READ_NEWEST);
  return rows.map((row) => ({ id: row.id, recordedAt: row.recorded_at })).reverse();
}

/** Identifies a database: differs between copies within a server, and is equal on a primary and its standby. */
export async function readDatabaseIdentity(database: Queryable): Promise<string> {
  const [row] = await database.query<{ made: string }>(READ_IDENTITY);
  return row?.made ?? '';
}
