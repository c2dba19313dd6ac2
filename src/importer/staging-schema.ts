import { SQLSTATE, sqlstateOf } from '../store/sqlstate.ts';
import { ADVISORY_LOCKS } from '../store/advisory-locks.ts';
import { type Session, sql } from '../store/database.ts';

/** Schema of staged tables, which outlives an interrupted import. */
const STAGING_SCHEMA = 'fullmatch_import';

const TAKE_LOCK = sql('import: lock staging', 'SELECT pg_try_advisory_lock($1, $2) AS is_held');
const CREATE = sql('import: create staging', `CREATE SCHEMA IF NOT EXISTS ${STAGING_SCHEMA}`);
const USE = sql(
  'import: use staging',
  `SELECT set_config('search_path', '${STAGING_SCHEMA}, ' || current_setting('search_path'), false)`,
);
// A crash of PostgreSQL empties unlogged tables, this one included, so its entries never outlive the rows.
const CREATE_LIST = sql(
  'import: create list of staged tables',
  `CREATE UNLOGGED TABLE IF NOT EXISTS ${STAGING_SCHEMA}.staged_tables (name text PRIMARY KEY, fingerprint text NOT NULL)`,
);
const READ_LIST = sql(
  'import: list staged tables',
  `SELECT tablename AS name, fingerprint FROM pg_tables
   LEFT JOIN ${STAGING_SCHEMA}.staged_tables ON name = tablename
   WHERE schemaname = '${STAGING_SCHEMA}' AND tablename <> 'staged_tables'`,
);
const FORGET = sql(
  'import: forget staged table',
  `DELETE FROM ${STAGING_SCHEMA}.staged_tables WHERE name = $1`,
);
const RECORD = sql(
  'import: record staged table',
  `INSERT INTO ${STAGING_SCHEMA}.staged_tables VALUES ($1, $2)`,
);
const DROP = sql('import: drop staging', `DROP SCHEMA IF EXISTS ${STAGING_SCHEMA} CASCADE`);

/** Destination of staged tables. */
export interface Staging {
  /** Kind and schema of the tables. */
  readonly kind: 'TEMP' | 'UNLOGGED';
  readonly schema: string;
  /** Whether an earlier import left a table complete. */
  has(table: string): boolean;
  /** Records that a table is complete, so that a later import uses it. */
  complete(table: string): Promise<void>;
  /** Drops the schema after a finished import. */
  drop(): Promise<void>;
}

/** Tables that end with the session. */
export const TEMPORARY_STAGING: Staging = {
  ...{ kind: 'TEMP', schema: 'pg_temp' },
  has: () => false,
  complete: () => Promise.resolve(),
  drop: () => Promise.resolve(),
};

/**
 * Opens the staging schema, so that an import that is interrupted does not read complete tables again. Drops
 * tables that are incomplete or come from other files. Falls back to temporary tables if another import uses
 * the schema, or the user may not create or change it.
 * @param fingerprints the wanted tables and the fingerprints of their files
 */
export async function openStaging(
  database: Session,
  fingerprints: ReadonlyMap<string, string>,
): Promise<Staging> {
  const [lock] = await database.query<{ is_held: boolean }>(TAKE_LOCK, [...ADVISORY_LOCKS.staging]);
  if (lock?.is_held !== true) return TEMPORARY_STAGING;
  let kept: ReadonlySet<string>;
  try {
    kept = await prepareSchema(database, fingerprints);
  } catch (error) {
    if (sqlstateOf(error) === SQLSTATE.insufficientPrivilege) return TEMPORARY_STAGING;
    throw error;
  }
  await database.query(USE);
  return {
    ...{ kind: 'UNLOGGED', schema: STAGING_SCHEMA },
    has: (table) => kept.has(table),
    complete: async (table) => {
      await database.query(RECORD, [table, fingerprints.get(table)]);
    },
    drop: async () => {
      await database.query(DROP);
    },
  };
}

/** Creates the schema and drops tables that are not wanted; returns the names of the complete ones. */
async function prepareSchema(
  database: Session,
  fingerprints: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  await database.query(CREATE);
  await database.query(CREATE_LIST);
  const kept = new Set<string>();
  for (const { name, fingerprint } of await database.query<StagedTableRow>(READ_LIST)) {
    if (fingerprint !== null && fingerprints.get(name) === fingerprint) kept.add(name);
    else {
      await database.query(FORGET, [name]);
      await database.query(
        sql(`import: drop staged ${name}`, `DROP TABLE ${STAGING_SCHEMA}."${name}"`),
      );
    }
  }
  return kept;
}

interface StagedTableRow {
  readonly name: string;
  /** null for an incomplete table. */
  readonly fingerprint: string | null;
}
