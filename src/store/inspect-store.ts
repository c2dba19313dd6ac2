// Inspects the database without starting, creating or migrating anything.
import { type Client } from 'pg';
import { silentLogger } from '../log.ts';
import { connectClient, type ConnectionTarget, targetOfUrl } from './connection-target.ts';
import { type Queryable } from './database.ts';
import { EMBEDDED_DATABASE, socketTarget } from './embedded/attachment.ts';
import { checkMajorVersion, inspectDataDirectory } from './embedded/data-directory.ts';
import { findRunningServer } from './embedded/lock-file.ts';
import { inspectBinaries } from './embedded/postgres-binaries.ts';
import { inspectMigrations } from './migrate.ts';
import { checkVersion, type StoreOptions } from './open-store.ts';
import { createDatabasePool } from './pool.ts';
import { mapDatabaseError } from './sqlstate.ts';

/** A database that responds. */
export interface InspectedStore {
  readonly database: Queryable;
  readonly embedded: boolean;
  /** PostgreSQL's version. */
  readonly version: string;
  readonly migrations: { readonly applied: number; readonly pending: readonly string[] };
  /** Whether the database is read-only: a standby, or a server or user configured so. */
  readonly readOnly: boolean;
  /** Whether this user may create tables. */
  readonly mayCreate: boolean;
  /** Connections that the server accepts from ordinary users, of all processes together. */
  readonly connections: number;
  /** How far the server's clock is ahead of this machine's, in milliseconds, corrected by half the round trip. */
  readonly clockAheadMs: number;
  /** Closes the connections. */
  close(): Promise<void>;
}

interface ServerFacts {
  readonly read_only: boolean;
  readonly may_create: boolean | null;
  readonly connections: number;
  readonly now_ms: number;
}

const FACTS = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
    has_schema_privilege(current_schema(), 'CREATE') AS may_create,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms`;

/**
 * Inspects the configured database: the operator's server, or the embedded one if it runs. If it does not
 * run, its data is checked and the result is undefined.
 * @throws FullmatchError as openStore for anything that would keep it from opening
 */
export async function inspectStore(
  options: Pick<StoreOptions, 'url' | 'dataDir' | 'binaries'>,
  applicationName: string,
): Promise<InspectedStore | undefined> {
  if (options.url !== undefined) return inspect(targetOfUrl(options.url, applicationName), false);
  const data = await inspectDataDirectory(options.dataDir);
  const lock = data?.major === undefined ? undefined : await findRunningServer(data.path);
  if (lock !== undefined) {
    return inspect(socketTarget(lock, EMBEDDED_DATABASE, applicationName), true);
  }
  const binaries = await inspectBinaries(options.binaries);
  if (data?.major !== undefined) checkMajorVersion(data.path, data.major, binaries);
  return undefined;
}

async function inspect(target: ConnectionTarget, embedded: boolean): Promise<InspectedStore> {
  const client = await connectClient(target);
  try {
    const version = await checkVersion(client, target);
    const migrations = await inspectMigrations(client);
    const facts = await readFacts(client, target);
    const pool = createDatabasePool(target, 1, silentLogger);
    const { database } = pool;
    return { ...{ database, embedded, version, migrations }, ...facts, close: () => pool.close() };
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function readFacts(client: Client, target: ConnectionTarget) {
  const sentAt = Date.now();
  const { rows } = await client.query<ServerFacts>(FACTS).catch((error: unknown) => {
    throw mapDatabaseError(error, {
      statement: 'read the state of the server',
      server: target.describe(),
    });
  });
  const [row] = rows;
  return {
    readOnly: row?.read_only === true,
    mayCreate: row?.may_create === true,
    connections: row?.connections ?? 0,
    clockAheadMs: (row?.now_ms ?? 0) - (sentAt + Date.now()) / 2,
  };
}
