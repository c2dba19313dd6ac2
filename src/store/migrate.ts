import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseError, type Client } from 'pg';
import { packageFile } from '../lib/package-file.ts';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { mapDatabaseError, SQLSTATE } from './sqlstate.ts';

/** A numbered SQL file, such as `0001-repository.sql`. */
export interface Migration {
  readonly number: number;
  /** The file name without `.sql`. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, in hex; line ends count as `\n`, since a checkout may change them. */
  readonly sha256: string;
}

/** Selection of the migrations to apply. */
interface MigrateOptions {
  /** Folder of the migrations; the service's own by default. */
  readonly folder?: string;
  /** Number of the last one to apply, to reproduce an older schema; all by default. */
  readonly upTo?: number;
}

/** Logs what {@link migrate} applied, in one line. */
export function logMigrations(log: Logger, applied: readonly Migration[], schema?: string): void {
  const [first] = applied;
  const last = applied.at(-1);
  if (first === undefined || last === undefined) return;
  const facts = { migrations: applied.length, from: first.name, to: last.name };
  log.info({ ...facts, ...(schema !== undefined && { schema }) }, 'migrated the database');
}

interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/** The folder of the service's own migrations. */
const MIGRATIONS_FOLDER = fileURLToPath(packageFile('migrations/'));
const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/;

const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * Migrates the schema of the connected database to the newest version and returns the applied migrations in
 * order. Each migration is a transaction that holds the migration lock and checks again whether it is
 * pending, so any number of processes may start at once.
 * @throws FullmatchError `schema_too_new` if a newer Fullmatch migrated the database; `database_error` if a
 * migration fails or the text of an applied one has changed; `database_unreachable`
 */
export async function migrate(
  client: Client,
  { folder = MIGRATIONS_FOLDER, upTo = Infinity }: MigrateOptions = {},
): Promise<readonly Migration[]> {
  const migrations = await readMigrations(folder);
  const applied: Migration[] = [];
  if (upTo !== Infinity && upTo > migrations.length) throw tooNew(upTo, '', migrations.length);
  for (const migration of pending(migrations, await readApplied(client))) {
    if (migration.number > upTo) break;
    if (await apply(client, migration, migrations)) applied.push(migration);
  }
  return applied;
}

/**
 * Reports the number of applied migrations and the names of the pending ones, without changing anything.
 * @throws FullmatchError as {@link migrate}
 */
export async function inspectMigrations(
  client: Client,
): Promise<{ readonly applied: number; readonly pending: readonly string[] }> {
  const applied = await readApplied(client);
  const missing = pending(await readMigrations(MIGRATIONS_FOLDER), applied);
  return { applied: applied.length, pending: missing.map(({ name }) => name) };
}

/**
 * The migrations of a folder, in order.
 * @throws FullmatchError `internal_error` if their numbers do not run from 1 without a gap
 */
async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d.*\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number(FILE_NAME.exec(file)?.[1]);
      if (number !== index + 1) {
        throw new FullmatchError(
          'internal_error',
          `The migration ${file} is out of order: number ${index + 1} comes next, named like 0001-name.sql.`,
          { details: { file } },
        );
      }
      const text = (await readFile(path.join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { number, name: file.slice(0, -'.sql'.length), text, sha256 };
    }),
  );
}

/** Pending migrations. */
function pending(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = applied.at(-1);
  if (newest !== undefined && newest.number > migrations.length) {
    throw tooNew(newest.number, ` (${newest.name})`, migrations.length);
  }
  for (const { number, name, sha256 } of applied) {
    const migration = known.get(number);
    if (migration !== undefined && migration.sha256 !== sha256) {
      throw new FullmatchError(
        'database_error',
        `The migration ${migration.name} differs from the one this database was migrated with (${name}, SHA-256 ${sha256.slice(0, 12)}…): ` +
          'an applied migration never changes. Run the Fullmatch version that made this database, or start with an empty one.',
        {
          details: {
            migration: migration.name,
            applied_sha256: sha256,
            file_sha256: migration.sha256,
          },
        },
      );
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return migrations.filter(({ number }) => !done.has(number));
}

function tooNew(number: number, name: string, known: number): FullmatchError {
  return new FullmatchError(
    'schema_too_new',
    `The database is at schema version ${number}${name}, and this Fullmatch knows ${known}: ` +
      'a newer Fullmatch migrated it. Run that version or a later one.',
    { details: { database_version: number, known_version: known } },
  );
}

async function readApplied(client: Client): Promise<readonly AppliedMigration[]> {
  try {
    const result = await client.query<AppliedMigration>(
      'SELECT number, name, sha256 FROM schema_migrations ORDER BY number',
    );
    return result.rows;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SQLSTATE.undefinedTable) return [];
    throw mapDatabaseError(error, { statement: 'read applied migrations' });
  }
}

/** Applies one migration; returns false if another process did in the meantime. */
async function apply(
  client: Client,
  migration: Migration,
  migrations: readonly Migration[],
): Promise<boolean> {
  try {
    await client.query('BEGIN');
    // The lock is awaited without a timeout while another process migrates, and a migration may take long.
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...ADVISORY_LOCKS.migration]);
    await client.query(CREATE_TABLE);
    const todo = pending(migrations, await readApplied(client));
    if (!todo.includes(migration)) {
      await client.query('ROLLBACK');
      return false;
    }
    await client.query(migration.text);
    if (client.getTransactionStatus() !== 'T') {
      throw new FullmatchError(
        'internal_error',
        `The migration ${migration.name} ends its own transaction; remove BEGIN and COMMIT.`,
        { details: { migration: migration.name } },
      );
    }
    await client.query('INSERT INTO schema_migrations (number, name, sha256) VALUES ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.sha256,
    ]);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    // A broken connection rolls back by itself.
    await client.query('ROLLBACK').catch(() => undefined);
    throw migrationFailure(error, migration);
  }
}

function migrationFailure(error: unknown, migration: Migration): FullmatchError {
  const mapped = mapDatabaseError(error, { statement: `migration ${migration.name}` });
  if (mapped === error || mapped.code !== 'database_error') return mapped;
  return new FullmatchError(
    'database_error',
    `The migration ${migration.name} failed and was rolled back: ${messageOf(error)}`,
    { details: { ...mapped.details, migration: migration.name }, cause: error },
  );
}
