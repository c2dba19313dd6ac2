import { finished as onFinished, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Client, escapeIdentifier } from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { FullmatchError } from '../../errors.ts';
import { migrate } from '../migrate.ts';
import { createSchema } from '../open-schema.ts';
import { mapDatabaseError } from '../sqlstate.ts';
import {
  type BackupEnd,
  type BackupSchema,
  keyOf,
  MAIN_SCHEMA,
  type Manifest,
} from './backup-format.ts';
import { describeSchema } from './describe-schema.ts';
import { readBackup, unusable } from './read-backup.ts';
import { type BackupProgress } from './write-backup.ts';

/** Options of a restore. */
export interface RestoreOptions {
  readonly file: string;
  /** Whether events may be lost that are in the database and not in the backup. */
  readonly discardNewer: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BackupProgress) => void;
}

const OTHERS = `
  SELECT DISTINCT application_name AS name FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'fullmatch%'`;
/** Temporary table with the acknowledged events of a schema. */
const keptOf = (schema: string): string => escapeIdentifier(`acknowledged_${schema}`);
/** Copies a schema's acknowledged events, which are compared with the restored ones afterwards. */
const keepAcknowledged = (schema: string): string => `
  CREATE TEMP TABLE ${keptOf(schema)} ON COMMIT DROP AS
  SELECT id, kind::text AS kind, chain_id, address, recorded_at FROM match_events`;
const countLost = (schema: string): string => `
  SELECT count(*)::int AS lost FROM ${keptOf(schema)} AS acknowledged WHERE NOT EXISTS (
    SELECT FROM match_events AS event WHERE event.id = acknowledged.id AND event.kind::text = acknowledged.kind
      AND (event.chain_id, event.address, event.recorded_at) = (acknowledged.chain_id, acknowledged.address, acknowledged.recorded_at))`;

/**
 * Replaces the contents of a database with those of a backup, in one transaction: either everything is
 * restored or nothing has changed. Then the schema is migrated to this version.
 * @param client a dedicated connection without timeouts, to a database that is empty or has the backup's
 * schema version
 * @throws FullmatchError `backup_unusable`, `backup_behind`, `database_in_use`, `schema_too_new`,
 * `database_error`
 */
export async function restoreBackup(
  client: Client,
  options: RestoreOptions,
): Promise<{ readonly manifest: Manifest; readonly end: BackupEnd }> {
  const { file, signal } = options;
  await requireAlone(client);
  const filling = new Filling(client, options);
  try {
    const read = await readBackup(
      file,
      {
        begin: (manifest) => filling.begin(manifest),
        rows: (key, part) => filling.write(key, part),
      },
      signal,
    );
    await filling.end(read.manifest, read.end);
    await eachSchema(client, read.manifest, async () => {
      await migrateAnew(client);
    });
    return read;
  } catch (error) {
    await filling.giveUp();
    throw mapDatabaseError(error, { statement: 'restore' });
  }
}

/** Migrations leave temporary functions behind, which the migrations of the next schema create again. */
async function migrateAnew(client: Client, upTo?: number): Promise<void> {
  await client.query('DISCARD TEMP');
  await migrate(client, upTo === undefined ? {} : { upTo });
}

/** @throws FullmatchError database_in_use */
async function requireAlone(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(OTHERS);
  const [other] = rows;
  if (other === undefined) return;
  throw new FullmatchError(
    'database_in_use',
    `Another process (${other.name}) uses the database; stop it, and restore again.`,
    { details: { process: other.name } },
  );
}

/** Runs a function on the tables of each schema. */
async function eachSchema(
  client: Client,
  { schemas }: Manifest,
  work: (schema: BackupSchema) => Promise<void>,
): Promise<void> {
  for (const schema of schemas) {
    await useSchema(client, schema.name);
    await work(schema);
  }
  await useSchema(client, MAIN_SCHEMA);
}

const useSchema = (client: Client, name: string): Promise<unknown> =>
  client.query(`SET search_path TO ${name === MAIN_SCHEMA ? 'DEFAULT' : escapeIdentifier(name)}`);

/** The transaction that empties and refills the tables. */
class Filling {
  readonly #client: Client;
  readonly #options: RestoreOptions;
  #manifest: Manifest | undefined;
  /** The table that is being filled. */
  #open: { readonly key: string; readonly stream: CopyStreamQuery } | undefined;
  /** Error of the table's stream. pg-copy-streams emits it without destroying the stream. */
  #failure: Error | undefined;
  #schema = MAIN_SCHEMA;
  #done = new Set<string>();
  #bytes = 0;

  constructor(client: Client, options: RestoreOptions) {
    this.#client = client;
    this.#options = options;
  }

  async begin(manifest: Manifest): Promise<void> {
    this.#manifest = manifest;
    const client = this.#client;
    for (const { name } of manifest.schemas) {
      if (name !== MAIN_SCHEMA) await createSchema(client, name);
    }
    await eachSchema(client, manifest, (schema) => this.#requireTables(schema));
    await client.query('BEGIN');
    await eachSchema(client, manifest, async ({ name, tables }) => {
      await client.query(keepAcknowledged(name));
      const listed = tables.map((table) => escapeIdentifier(table.name));
      // For all other writers the log is append-only.
      for (const table of listed) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
      await client.query(`TRUNCATE ${listed.join(', ')}`);
    });
  }

  /**
   * Creates the tables of an empty database with the backup's schema version.
   * @throws FullmatchError backup_unusable, schema_too_new
   */
  async #requireTables({ name, migrations, tables }: BackupSchema): Promise<void> {
    await migrateAnew(this.#client, migrations);
    const own = await describeSchema(this.#client, name);
    const { file } = this.#options;
    if (own.migrations !== migrations) {
      throw unusable(
        file,
        `it is of schema version ${migrations} but the database already has version ${own.migrations}; restore it into an empty database`,
      );
    }
    const known = new Map(own.tables.map((table) => [table.name, table.columns]));
    for (const { name: table, columns } of tables) {
      if (known.get(table)?.join() !== columns.join()) {
        throw unusable(file, `its table ${table} is not the one of schema version ${migrations}`);
      }
    }
  }

  async write(key: string, part: Buffer): Promise<void> {
    if (this.#open?.key !== key) await this.#next(key);
    const { stream } = this.#open ?? {};
    if (stream === undefined) throw new Error('no table is filled');
    if (this.#failure !== undefined) throw this.#failure;
    if (!stream.write(part)) await untilDrained(stream);
    this.#bytes += part.length;
    this.#options.onProgress({
      tables: this.#manifest?.schemas.reduce((sum, { tables }) => sum + tables.length, 0) ?? 0,
      tablesDone: this.#done.size,
      bytes: this.#bytes,
    });
  }

  async #next(key: string): Promise<void> {
    await this.#close();
    if (this.#done.has(key)) throw unusable(this.#options.file, `the rows of ${key} come twice`);
    const [schema = '', name = ''] = key.split('/');
    if (schema !== this.#schema) await useSchema(this.#client, schema);
    this.#schema = schema;
    const table = this.#manifest?.schemas
      .find((each) => each.name === schema)
      ?.tables.find((each) => each.name === name);
    if (table === undefined) throw new Error('the manifest has the table');
    const columns = table.columns.map((column) => escapeIdentifier(column)).join(', ');
    const text = `COPY ${escapeIdentifier(name)} (${columns}) FROM STDIN`;
    this.#open = { key, stream: this.#client.query(copyFrom(text)) };
    // Thrown when the stream is next written to or closed.
    this.#open.stream.on('error', (error) => (this.#failure ??= error));
  }

  async #close(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (this.#failure !== undefined) throw this.#failure;
    open.stream.end();
    await finished(open.stream);
    this.#done.add(open.key);
  }

  /**
   * Commits once everything agrees with the manifest.
   * @throws FullmatchError backup_behind, backup_unusable
   */
  async end(manifest: Manifest, end: BackupEnd): Promise<void> {
    await this.#close();
    const client = this.#client;
    const { file, discardNewer } = this.#options;
    let lost = 0;
    await eachSchema(client, manifest, async (schema) => {
      const { name, tables } = schema;
      for (const table of tables) {
        const count = `SELECT count(*)::int AS rows FROM ${escapeIdentifier(table.name)}`;
        const { rows } = await client.query<{ rows: number }>(count);
        if (rows[0]?.rows !== end.tables[keyOf(name, table.name)]?.rows) {
          throw unusable(file, `the table ${table.name} has the wrong number of rows`);
        }
        await client.query(`ALTER TABLE ${escapeIdentifier(table.name)} ENABLE TRIGGER USER`);
      }
      const restored = await describeSchema(client, name);
      const facts = ({ newestEvent, feedPosition, counts }: BackupSchema): string =>
        JSON.stringify([newestEvent, feedPosition, Object.entries(counts).sort()]);
      if (facts(restored) !== facts(schema)) {
        throw unusable(file, 'its counts do not match its rows');
      }
      const counted = await client.query<{ lost: number }>(countLost(name));
      lost += counted.rows[0]?.lost ?? 0;
    });
    if (lost > 0 && !discardNewer) throw behind(file, lost);
    await eachSchema(client, manifest, async ({ sequences }) => {
      for (const { name, value, isCalled } of sequences) {
        await client.query(RAISE_SEQUENCE, [name, value, isCalled]);
      }
    });
    await client.query('COMMIT');
  }

  async giveUp(): Promise<void> {
    this.#open?.stream.destroy();
    await this.#client.query('ROLLBACK').catch(() => undefined);
  }
}

/**
 * Raises a sequence to its value in the backup. A rollback does not undo this, so a sequence is never lowered: a
 * restore that is refused or fails would otherwise leave the database with ids that its rows already have.
 */
const RAISE_SEQUENCE = `
  SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, $2::bigint, $3) FROM pg_sequences
  WHERE schemaname = current_schema() AND sequencename = $1 AND coalesce(last_value, 0) < $2::bigint`;

/** Waits until a stream accepts more data. Rejects if it fails or closes first, and leaves no listeners behind. */
function untilDrained(stream: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      stopWatching();
      stream.off('drain', settle);
      if (error) reject(error);
      else resolve();
    };
    const stopWatching = onFinished(stream, settle);
    stream.on('drain', settle);
  });
}

function behind(file: string, lost: number): FullmatchError {
  return new FullmatchError(
    'backup_behind',
    `The database has ${lost} events that ${file} lacks: acknowledged data would be lost. Nothing was changed. Restore a newer backup, or add --discard-newer.`,
    { details: { events: lost } },
  );
}
