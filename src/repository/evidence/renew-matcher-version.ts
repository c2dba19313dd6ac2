import { MATCHER_VERSION } from '../../bytecode/matcher-version.ts';
import { sql, type Queryable } from '../../store/database.ts';

const RENEW = sql(
  'renew matcher version',
  'UPDATE verified_contracts SET matcher_version = $2, updated_at = now() WHERE id = $1 AND coalesce(matcher_version, 0) < $2',
);

/** Records that the current matcher confirms a stored match, whose evidence an earlier one produced. */
export async function renewMatcherVersion(database: Queryable, matchId: string): Promise<void> {
  await database.query(RENEW, [matchId, MATCHER_VERSION]);
}
