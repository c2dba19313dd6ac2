// PostgreSQL for all rooms: an embedded server or that of DATABASE_URL, its schema, queries and transactions.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Client } from 'pg';
import { FullmatchError } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import { ACKNOWLEDGED_FILE } from './acknowledged-events.ts';
import { connectClient, type ConnectionTarget, targetOfUrl } from './connection-target.ts';
import { type Database, type Queryable } from './database.ts';
import { EMBEDDED_DATABASE } from './embedded/attachment.ts';
import { findData } from './embedded/data-directory.ts';
import { type EmbeddedServer, openEmbeddedServer } from './embedded/embedded-server.ts';
import { inspectMigrations, logMigrations, migrate } from './migrate.ts';
import { FreeSpace } from './free-space.ts';
import { hasSchema, openSchema } from './open-schema.ts';
import { createDatabasePool, type DatabasePool } from './pool.ts';
import { readSnapshot } from './read-snapshot.ts';
import { OLDEST_MAJOR } from './embedded/postgres-binaries.ts';
import { type ServerSize } from './embedded/server-process.ts';
import { LISTEN_URL, needsSession, requireSameDatabase } from './session-target.ts';
import { mapDatabaseError } from './sqlstate.ts';
import { type StoreTrouble, watchCondition } from './store-condition.ts';

/** Choice and settings of the database. */
export interface StoreOptions extends ServerSize {
  /** URL of the operator's PostgreSQL server; if absent, the embedded server is used. */
  readonly url?: Secret;
  /** URL of the same database without a pooler, for what needs a session. */
  readonly listenUrl?: Secret;
  /** Maximum connections of the pool. */
  readonly poolSize: number;
  /** The service's data directory, absolute; the embedded server's data is in its folder `postgres`. */
  readonly dataDir: string;
  /** A folder with `postgres` and `initdb`, version 15 or later, for the embedded server instead of the package's. */
  readonly binaries?: string;
  /** Application name of the connections in PostgreSQL's views. */
  readonly applicationName?: string;
  /** Whether to migrate the schema; true by default. */
  readonly migrate?: boolean;
  /** Whether to fail if there is no Fullmatch database, instead of creating one; false by default. */
  readonly mustExist?: boolean;
  /** Bytes kept free on the file system of the embedded server's data; 0 by default. */
  readonly minFreeBytes?: number;
  /** Whether to watch the condition of the database; false by default. */
  readonly watch?: boolean;
  /** Called each time when nothing is left to do but to wait for PostgreSQL. */
  readonly onWaiting?: () => void;
}

/** An open database with the schema of this version, and its server. */
export interface Store {
  readonly database: Database;
  readonly server: {
    readonly version: string;
    readonly embedded: boolean;
    /** Whether the embedded server was already running. */
    readonly joined: boolean;
    /** Process id of the embedded server; changes when it is restarted. */
    readonly processId?: number;
  };
  /** Current problems of the database, and since when. */
  condition(): StoreHealth;
  /** @throws FullmatchError `storage_full` if the embedded server's data has too little space */
  readonly requireSpace: () => Promise<void>;
  /**
   * The same tables in another schema, closed with the store; see {@link openSchema}.
   * @throws FullmatchError `invalid_configuration`, and as {@link openStore}
   */
  openSchema(schema: string): Promise<Database>;
  /** Whether the tables of a schema exist. */
  hasSchema(schema: string): Promise<boolean>;
  /** Runs work on a dedicated connection without timeouts. */
  onClient<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Reads one snapshot of the database over several connections without timeouts. */
  onSnapshot<T>(
    connections: number,
    work: (readers: readonly Queryable[]) => Promise<T>,
  ): Promise<T>;
  /** Forgets acknowledged events of earlier runs, which the file in the data directory keeps. */
  forgetAcknowledged(): Promise<void>;
  /** Closes the connections, and stops the embedded server if no other process uses it. */
  close(): Promise<void>;
}

/** Problems of the database, as this process sees them. */
export interface StoreHealth {
  /** Time since which it accepts connections but does not respond. */
  readonly hungSince?: Date;
  readonly troubles: readonly StoreTrouble[];
}

/** The database, and where long-lived connections go if its own do not last. */
interface Targets {
  readonly target: ConnectionTarget;
  readonly sessions?: ConnectionTarget;
}

const APPLICATION_NAME = 'fullmatch';
/** A schema other than the main one has few users. */
const SCHEMA_POOL_SIZE = 4;
/** `server_version_num` is the major version times 10,000. */
const MAJOR_FACTOR = 10_000;

/**
 * Opens the store: connects to the operator's server, or starts or attaches to the embedded one, and migrates
 * the schema.
 * @throws FullmatchError `database_unreachable`, `database_too_old`, `database_error`, `schema_too_new`,
 * `invalid_configuration`, `no_data`, and for the embedded server `data_directory_unusable`,
 * `data_directory_full`, `data_directory_too_new`, `data_directory_too_old`, `embedded_server_unavailable`
 */
export async function openStore(options: StoreOptions, log: Logger): Promise<Store> {
  const applicationName = options.applicationName ?? APPLICATION_NAME;
  if (options.url !== undefined) {
    options.onWaiting?.();
    const target = targetOfUrl(options.url, applicationName);
    const sessions =
      options.listenUrl && targetOfUrl(options.listenUrl, applicationName, LISTEN_URL);
    const version = await prepareDatabase(target, options, log);
    if (sessions !== undefined) await requireSameDatabase(target, sessions);
    const server = { version, embedded: false, joined: false };
    return openPool({ target, ...(sessions && { sessions }) }, options, log, server);
  }
  if (options.mustExist === true && (await findData(options.dataDir)) === undefined) {
    throw noData(`the data directory ${options.dataDir} holds no database`);
  }
  const embedded = await openEmbeddedServer(
    {
      dataDir: options.dataDir,
      applicationName,
      ...(options.binaries === undefined ? {} : { binaries: options.binaries }),
      ...(options.sharedBuffersBytes && { sharedBuffersBytes: options.sharedBuffersBytes }),
      ...(options.maxConnections && { maxConnections: options.maxConnections }),
      ...(options.onWaiting && { onWaiting: options.onWaiting }),
    },
    log,
  );
  try {
    const target = embedded.target(EMBEDDED_DATABASE);
    await embedded.useWhileUp(() => prepareDatabase(target, options, log));
    return openPool({ target }, options, log, describeEmbedded(embedded), embedded);
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
  { target, sessions }: Targets,
  options: StoreOptions,
  log: Logger,
  server: Store['server'],
  embedded?: EmbeddedServer,
): Store {
  const pool = createDatabasePool(target, options.poolSize, log, sessions);
  const space = new FreeSpace(embedded?.folder, options.minFreeBytes ?? 0);
  const closing = new AbortController();
  const watched =
    options.watch === true
      ? watchCondition(pool.condition, { database: pool.database, space, log }, closing.signal)
      : undefined;
  const schemas: DatabasePool[] = [];
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    try {
      await Promise.all([pool, ...schemas].map((each) => each.close()));
      await watched;
    } finally {
      await embedded?.close();
    }
  };
  return {
    database: pool.database,
    server,
    condition: () => describeCondition(pool, space),
    requireSpace: () => space.require(),
    openSchema: async (schema) => {
      const size = Math.min(options.poolSize, SCHEMA_POOL_SIZE);
      const opened = await openSchema(sessions ?? target, schema, size, log);
      schemas.push(opened);
      return opened.database;
    },
    hasSchema: (schema) => hasSchema(target, schema),
    onClient: (work) => {
      if (sessions === undefined && target.isPooled === true) throw needsSession(target);
      return onClients(sessions ?? target, 1, ([client]) => work(client));
    },
    // Each connection does all of this in one transaction, which a pooler keeps on one server connection.
    onSnapshot: (connections, work) =>
      onClients(sessions ?? target, connections, (clients) => readSnapshot(clients, work)),
    forgetAcknowledged: () => rm(path.join(options.dataDir, ACKNOWLEDGED_FILE), { force: true }),
    close: () => (closed ??= close()),
  };
}

function describeCondition({ condition, hungSince }: DatabasePool, space: FreeSpace): StoreHealth {
  const since = hungSince();
  const { shortage } = space;
  const met = condition.troubles;
  const isKnown = met.some(({ code }) => code === 'disk_full');
  const short: readonly StoreTrouble[] =
    shortage === undefined || isKnown
      ? []
      : [
          {
            code: 'disk_full',
            since: shortage.since,
            message: `${shortage.freeBytes} bytes are free`,
          },
        ];
  return { ...(since !== undefined && { hungSince: since }), troubles: [...short, ...met] };
}

async function onClients<T>(
  target: ConnectionTarget,
  count: number,
  work: (clients: readonly [Client, ...Client[]]) => Promise<T>,
): Promise<T> {
  const unlimited = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
  const clients: [Client, ...Client[]] = [await connectClient(target, unlimited)];
  try {
    while (clients.length < count) clients.push(await connectClient(target, unlimited));
    return await work(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
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
    if (options.mustExist === true && (await inspectMigrations(client)).applied === 0) {
      throw noData(`the database at ${target.describe()} has no tables of Fullmatch`);
    }
    if (options.migrate !== false) {
      logMigrations(log, await migrate(client));
    }
    return version;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function noData(what: string): FullmatchError {
  return new FullmatchError(
    'no_data',
    `No data here: ${what}. Name the configuration or the data directory of the service (--config, --data-dir), or set DATABASE_URL; fullmatch start makes a new database.`,
  );
}

/**
 * The version of the connected server.
 * @throws FullmatchError `database_too_old`, as {@link mapDatabaseError}
 */
export async function checkVersion(client: Client, target: ConnectionTarget): Promise<string> {
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
