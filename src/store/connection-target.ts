import { Client, type ClientBase, type ClientConfig } from 'pg';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { isWanted, listServers, type WantedServer } from './server-list.ts';
import { mapDatabaseError, sqlstateOf } from './sqlstate.ts';

/** A database whose address may change: an embedded server can come back on another socket. */
export interface ConnectionTarget {
  /** What the driver needs for one connection. Asked for each again, as a server may come back elsewhere. */
  clientConfig(): ClientConfig;
  /** The server and database for messages, such as `db.example.org:5432/fullmatch`: no user, no password. */
  describe(): string;
  /** Whether a pooler is between us and the server, so that nothing lasts longer than a transaction. Known once connected. */
  readonly isPooled?: boolean;
  /** How many servers there are to choose from; one unless told. */
  readonly servers?: number;
  /**
   * Looks at a new connection before it is used.
   * @throws FullmatchError `database_unreachable` where it leads to a server that is not wanted
   */
  greet?(client: ClientBase): Promise<void>;
  /**
   * Takes note that a connection of this configuration could not be made, so that the next is made to another server.
   * @returns whether the next may be made at once
   */
  turnFrom?(config: ClientConfig, error: unknown): boolean;
}

const CONNECT_TIMEOUT_MS = 15_000;
/** Where there are several servers, the next is tried within the time that a request waits. */
const NEXT_SERVER_TIMEOUT_MS = 1_500;
/** How long a statement may take; a pooler's connections are held to it by us. */
export const STATEMENT_TIMEOUT_MS = 120_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/** How a transaction begins behind a pooler, whose connections have no settings of ours. */
export const BEGIN_POOLED = `BEGIN; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`;

/**
 * A `/`, `?` or `#` in a password that is not percent-encoded would end the host there, and make the user and the
 * password the host and the port, which messages show. Then an `@` is left after them: such a URL is refused.
 */
const DATABASE_URL = /^postgres(?:ql)?:\/\/[^/?#]*(?:[/?#][^@]*)?$/;

/** PgBouncer refuses what it cannot give to the connections that it shares out. */
const REFUSED_PARAMETER = /unsupported startup parameter/;
const PROTOCOL_VIOLATION = '08P01';

/** A pooler keeps its own numbers of processes, so that those of the server show it. */
const GREETING = `
  SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS is_standby,
    current_setting('transaction_read_only')::boolean AS is_read_only`;

/** What holds for each of our connections; a statement that needs longer sets its own limit in its transaction. */
function commonConfig(applicationName: string): ClientConfig {
  return {
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  };
}

/** A configuration without what belongs to a session, which a pooler refuses. */
function withoutSession(config: ClientConfig): ClientConfig {
  return { ...config, statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
}

/**
 * The database that a connection URL names, `postgres://user:password@host:port/database` or a socket folder as
 * `postgres://user@/database?host=/folder`, or several servers of which one is wanted: see {@link listServers}. Parameters
 * of the URL win over ours.
 * @param named where the URL was given
 * @throws FullmatchError `invalid_configuration` when the URL has another form; the message does not repeat the URL
 */
export function targetOfUrl(
  url: Secret,
  applicationName: string,
  named = { name: 'DATABASE_URL', key: 'database.url' },
): ConnectionTarget {
  try {
    if (!DATABASE_URL.test(url.reveal())) throw new TypeError('no PostgreSQL URL');
    const { urls, wanted } = listServers(url.reveal());
    const common = commonConfig(applicationName);
    if (urls.length > 1) common.connectionTimeoutMillis = NEXT_SERVER_TIMEOUT_MS;
    const places = urls.map((connectionString) => {
      const { host, port, database } = new Client({ ...common, connectionString });
      return { host, port, database: database ?? '', config: { ...common, connectionString } };
    });
    return new ServersTarget(places, wanted);
  } catch {
    // The driver's error may quote the URL, so it is not passed on.
    throw new FullmatchError(
      'invalid_configuration',
      `${named.name} is not a PostgreSQL URL: expected postgres://user:password@host:port/database, with special characters percent-encoded.`,
      { details: { key: named.key } },
    );
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly config: ClientConfig;
}

/** One server, or the one of several that is wanted, which may be another one after a failover. */
class ServersTarget implements ConnectionTarget {
  readonly #places: readonly Place[];
  readonly #wanted: WantedServer;
  /** Which place each configuration that was given leads to. */
  readonly #given = new WeakMap<ClientConfig, number>();
  #current = 0;
  #isPooled: boolean | undefined;

  constructor(places: readonly Place[], wanted: WantedServer) {
    this.#places = places;
    this.#wanted = wanted;
  }

  get isPooled(): boolean {
    return this.#isPooled === true;
  }

  get servers(): number {
    return this.#places.length;
  }

  clientConfig(): ClientConfig {
    const given = this.#places[this.#current]?.config ?? {};
    const config = this.isPooled ? withoutSession(given) : { ...given };
    this.#given.set(config, this.#current);
    return config;
  }

  describe(): string {
    const [first] = this.#places;
    if (this.#places.length > 1) {
      const hosts = this.#places.map(({ host, port }) => `${host}:${port}`).join(',');
      return `${hosts}/${first?.database ?? ''}`;
    }
    return describeServer(first?.host ?? '', first?.port ?? 0, first?.database ?? '');
  }

  async greet(client: ClientBase): Promise<void> {
    if (this.#isPooled !== undefined && this.#wanted === 'any') return;
    const { rows } = await client.query<{
      pid: number;
      is_standby: boolean;
      is_read_only: boolean;
    }>(GREETING);
    const [row] = rows;
    if (row === undefined) return;
    // The driver has the number of the process there, and its types leave it out.
    const { processID } = client as { readonly processID?: number };
    this.#isPooled = row.pid !== processID;
    const role = { isStandby: row.is_standby, isReadOnly: row.is_read_only };
    if (isWanted(this.#wanted, role)) return;
    const is = role.isStandby ? 'a standby' : role.isReadOnly ? 'read-only' : 'a primary';
    throw new FullmatchError(
      'database_unreachable',
      `A PostgreSQL of ${this.describe()} is ${is}, but target_session_attrs=${this.#wanted} is required.`,
      { details: { server: this.describe() } },
    );
  }

  turnFrom(config: ClientConfig, error: unknown): boolean {
    if (isRefusedParameter(error)) {
      const wasKnown = this.isPooled;
      this.#isPooled = true;
      return !wasKnown;
    }
    const at = this.#given.get(config);
    // Others that tried the same server may have turned from it before.
    if (at !== undefined && at === this.#current) {
      this.#current = (at + 1) % this.#places.length;
    }
    return this.#places.length > 1;
  }
}

function isRefusedParameter(error: unknown): boolean {
  return sqlstateOf(error) === PROTOCOL_VIOLATION && REFUSED_PARAMETER.test(messageOf(error));
}

/** A database of the embedded server, through its socket. */
export function targetOfSocket(
  socket: { readonly folder: string; readonly port: number },
  user: string,
  database: string,
  applicationName: string,
): ConnectionTarget {
  return {
    clientConfig: () => ({
      ...commonConfig(applicationName),
      host: socket.folder,
      port: socket.port,
      user,
      database,
      // Against PGSSLMODE and PGPASSWORD in the environment, which mean another server.
      ssl: false,
      password: '',
    }),
    describe: () => describeServer(socket.folder, socket.port, database),
  };
}

/**
 * One connection outside the pool. The caller ends it.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function connectClient(
  target: ConnectionTarget,
  overrides: ClientConfig = {},
): Promise<Client> {
  // Each server once, and once more where a pooler refuses our settings.
  for (let left = target.servers ?? 1; ; left -= 1) {
    const config = target.clientConfig();
    const own = { ...config, ...overrides };
    const client = new Client(target.isPooled === true ? withoutSession(own) : own);
    // A connection that breaks while idle emits 'error', which would end the process if nobody listened.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await target.greet?.(client);
      return client;
    } catch (error) {
      void client.end().catch(() => undefined);
      const isWorthIt = target.turnFrom?.(config, error) === true;
      if (!isWorthIt || left <= 0) throw mapDatabaseError(error, { server: target.describe() });
    }
  }
}

function describeServer(host: string, port: number, database: string): string {
  return host.startsWith('/')
    ? `socket ${host}, database ${database}`
    : `${host}:${port}/${database}`;
}
