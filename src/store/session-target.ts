// The direct, long-lived connection used next to a pooler.
import { randomInt } from 'node:crypto';
import { FullmatchError } from '../errors.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { connectClient, type ConnectionTarget } from './connection-target.ts';
import { mapDatabaseError } from './sqlstate.ts';

/** Configuration key of the direct connection. */
export const LISTEN_URL = { name: 'DATABASE_LISTEN_URL', key: 'database.listenUrl' };

/** Error for features that a pooler does not support. */
export function needsSession(target: ConnectionTarget): FullmatchError {
  return new FullmatchError(
    'invalid_configuration',
    `A pooler is in front of PostgreSQL at ${target.describe()}, and this needs a direct connection: set DATABASE_LISTEN_URL.`,
    { details: { key: LISTEN_URL.key } },
  );
}

const IS_HELD = `
  SELECT EXISTS (
    SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND classid::bigint = $1 AND objid::bigint = $2 AND objsubid = 2
      AND datname = current_database()) AS held`;

/**
 * Takes a unique lock over one connection and looks for it over the other, to prove that both lead to the
 * same database.
 * @throws FullmatchError `invalid_configuration` if they do not
 */
export async function requireSameDatabase(
  target: ConnectionTarget,
  sessions: ConnectionTarget,
): Promise<void> {
  const keys = [ADVISORY_LOCKS.identity[0], randomInt(2 ** 31)];
  const holder = await connectClient(sessions);
  const seeker = await connectClient(target);
  try {
    if (sessions.isPooled === true) throw needsSession(sessions);
    await holder.query('SELECT pg_advisory_lock($1, $2)', keys);
    const { rows } = await seeker.query<{ held: boolean }>(IS_HELD, keys);
    if (rows[0]?.held === true) return;
    throw new FullmatchError(
      'invalid_configuration',
      `DATABASE_LISTEN_URL leads to ${sessions.describe()}, which is a different database than DATABASE_URL at ${target.describe()}.`,
      { details: { key: LISTEN_URL.key } },
    );
  } catch (error) {
    throw mapDatabaseError(error, { statement: 'compare databases' });
  } finally {
    await Promise.all([holder, seeker].map((client) => client.end().catch(() => undefined)));
  }
}
