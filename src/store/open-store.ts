import { type Client } from 'pg';
import { FullmatchError } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import { connectClient, type ConnectionTarget, targetOfUrl } from './connection-target.ts';
import { type Database } from './database.ts';
import { EMBEDDED_DATABASE } from './attachment.ts';
import { type EmbeddedServer, openEmbeddedServer } from './embedded-server.ts';
import { migrate } from './migrate.ts';
import { createDatabasePool } from './pool.ts';
import { OLDEST_MAJOR } from './postgres-binaries.ts';
import { mapDatabaseError } from './sqlstate.ts';

/** Which database the store uses, and how. */
export interface StoreOptions {
  /** A PostgreSQL server of the operator; without it the embedded server is used. */
  readonly url?: Secret;
  /** Most connections of the pool. */
  readonly poolSize: number;
  /** The service's data directory, absolute; the embedded server's data is in its folder `postgres`. */
  readonly dataDir: string;
  /** A folder with `postgres` and `initdb`, version 15 or later, for the embedded server instead of the package's. */
  readonly binaries?: string;
  /** How our connections are called in PostgreSQL's views. */
  readonly applicationName?: string;
  /** Whether the schema is brought up to date; true unless told. */
  readonly migrate?: boolean;
}

/** An open database with the schema of this version, and the server that it is on. */
export interface Store {
  readonly database: Database;
  readonly server: {
    readonly version: string;
    readonly embedded: boolean;
    /** Whether the embedded server ran already when this process came. */
    readonly joined: boolean;
    /** The embedded server's process; another one after it had to be started again. */
    readonly processId?: number;
  };
  /** Ends the connections, and stops the embedded server when no other process uses it. */
  close(): Promise<void>;
}

const APPLICATION_NAME = 'fullmatch';
/** `server_version_num` counts a major version as 10,000. */
const MAJOR_FACTOR = 10_000;

/**
 * Opens the store: connects to the operator's server, or starts or joins the embedded one, and migrates the schema.
 * @throws FullmatchError `database_unreachable`, `database_too_old`, `database_error`, `schema_too_new`,
 * `invalid_configuration`, and for the embedded server `data_directory_unusable`, `data_directory_full`,
 * `data_directory_too_new`, `data_directory_too_old`, `embedded_server_unavailable`
 */
export async function openStore(options: StoreOptions, log: Logger): Promise<Store> {
  const applicationName = options.applicationName ?? APPLICATION_NAME;
  if (options.url !== undefined) {
    const target = targetOfUrl(options.url, applicationName);
    const version = await prepareDatabase(target, options, log);
    return openPool(target, options, log, { version, embedded: false, joined: false });
  }
  const embedded = await openEmbeddedServer(
    {
      dataDir: options.dataDir,
      applicationName,
      ...(options.binaries === undefined ? {} : { binaries: options.binaries }),
    },
    log,
  );
  try {
    const target = embedded.target(EMBEDDED_DATABASE);
    await prepareDatabase(target, options, log);
    return openPool(target, options, log, describeEmbedded(embedded), () => embedded.close());
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

function describeEmbedded(embedded: EmbeddedServer): Store['server'] {
  return {
    embedded: true,
    joined: embedded.joined,
    get version() {
      return embedded.version;
    },
    get processId() {
      return embedded.processId;
    },
  };
}

function openPool(
  target: ConnectionTarget,
  options: StoreOptions,
  log: Logger,
  server: Store['server'],
  leaveServer?: () => Promise<void>,
): Store {
  const pool = createDatabasePool(target, options.poolSize, log);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    try {
      await pool.close();
    } finally {
      await leaveServer?.();
    }
  };
  return { database: pool.database, server, close: () => (closed ??= close()) };
}

/** Checks the version, migrates, and returns the version. */
async function prepareDatabase(
  target: ConnectionTarget,
  options: StoreOptions,
  log: Logger,
): Promise<string> {
  const client = await connectClient(target);
  try {
    const version = await checkVersion(client, target);
    if (options.migrate !== false) {
      for (const { name } of await migrate(client))
        log.info({ migration: name }, 'migrated the database');
    }
    return version;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function checkVersion(client: Client, target: ConnectionTarget): Promise<string> {
  const result = await client
    .query<{ number: string; version: string }>(
      `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version`,
    )
    .catch((error: unknown) => {
      throw mapDatabaseError(error, {
        statement: 'read the server version',
        server: target.describe(),
      });
    });
  const [row] = result.rows;
  const version = row?.version ?? 'unknown';
  if (Number(row?.number) / MAJOR_FACTOR < OLDEST_MAJOR) {
    throw new FullmatchError(
      'database_too_old',
      `The PostgreSQL at ${target.describe()} is version ${version}; Fullmatch needs ${OLDEST_MAJOR} or later.`,
      { details: { version, needed: OLDEST_MAJOR } },
    );
  }
  return version;
}
