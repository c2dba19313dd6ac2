import { Client, type ClientBase, type ClientConfig } from 'pg';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { isWanted, listServers, type WantedServer } from './server-list.ts';
import { mapDatabaseError, sqlstateOf } from './sqlstate.ts';

/** A database whose address may change: an embedded server can come back on another socket. */
export interface ConnectionTarget {
  /** Driver configuration of one connection. Called for each connection, since a server may come back elsewhere. */
  clientConfig(): ClientConfig;
  /** Server and database for messages, such as `db.example.org:5432/fullmatch`, without user and password. */
  describe(): string;
  /** Whether a pooler is in front of the server, so that no state outlives a transaction. Known once connected. */
  readonly isPooled?: boolean;
  /** Number of candidate servers; 1 by default. */
  readonly servers?: number;
  /**
   * Checks a new connection before it is used.
   * @throws FullmatchError `database_unreachable` if the server does not have the wanted role
   */
  greet?(client: ClientBase): Promise<void>;
  /**
   * Records that a connection with this configuration failed, so that the next goes to another server.
   * @returns whether to try the next one at once
   */
  turnFrom?(config: ClientConfig, error: unknown): boolean;
}

const CONNECT_TIMEOUT_MS = 15_000;
/** With several servers, the next one is tried within the time that a request waits. */
const NEXT_SERVER_TIMEOUT_MS = 1_500;
/** Statement timeout; for connections of a pooler it is enforced by us. */
export const STATEMENT_TIMEOUT_MS = 120_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Start of a transaction behind a pooler, whose connections do not have our settings. */
export const BEGIN_POOLED = `BEGIN; SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`;

/**
 * A `/`, `?` or `#` in a password that is not percent-encoded would end the host, and make the user and
 * password the host and port, which appear in messages. An `@` is then left after them: such a URL is
 * refused.
 */
const DATABASE_URL = /^postgres(?:ql)?:\/\/[^/?#]*(?:[/?#][^@]*)?$/;

/** PgBouncer rejects startup parameters that it cannot apply to shared connections. */
const REFUSED_PARAMETER = /unsupported startup parameter/;
const PROTOCOL_VIOLATION = '08P01';

/** A pooler has its own process ids; this query returns the server's. */
const GREETING = `
  SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS is_standby,
    current_setting('transaction_read_only')::boolean AS is_read_only`;

/** Settings of each connection; a statement that needs more time sets its own timeout in its transaction. */
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

/** Removes session settings from a configuration, which a pooler refuses. */
function withoutSession(config: ClientConfig): ClientConfig {
  return { ...config, statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
}

/**
 * Parses a database URL: `postgres://user:password@host:port/database`, a socket folder as
 * `postgres://user@/database?host=/folder`, or several servers, see {@link listServers}. Parameters of the
 * URL override ours.
 * @param named where the URL was configured
 * @throws FullmatchError `invalid_configuration` for any other form; the message does not repeat the URL
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

/** A single server, or the wanted one of several, which may change after a failover. */
class ServersTarget implements ConnectionTarget {
  readonly #places: readonly Place[];
  readonly #wanted: WantedServer;
  /** Server of each configuration handed out. */
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
    // The driver stores the process id there, but omits it from its types.
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
    // Other callers that tried the same server may have moved on already.
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
      // Overrides PGSSLMODE and PGPASSWORD in the environment, which are meant for another server.
      ssl: false,
      password: '',
    }),
    describe: () => describeServer(socket.folder, socket.port, database),
  };
}

/**
 * Opens a connection outside the pool, which the caller must end.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function connectClient(
  target: ConnectionTarget,
  overrides: ClientConfig = {},
): Promise<Client> {
  // Each server once, and once more if a pooler refuses our settings.
  for (let left = target.servers ?? 1; ; left -= 1) {
    const config = target.clientConfig();
    const own = { ...config, ...overrides };
    const client = new Client(target.isPooled === true ? withoutSession(own) : own);
    // An idle connection that breaks emits 'error', which would end the process without a listener.
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
