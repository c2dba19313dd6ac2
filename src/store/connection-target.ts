import { Client, type ClientConfig } from 'pg';
import { FullmatchError } from '../errors.ts';
import { type Secret } from '../lib/secret.ts';
import { mapDatabaseError } from './sqlstate.ts';

/** A database whose address may change: an embedded server can come back on another socket. */
export interface ConnectionTarget {
  /** What the driver needs for one connection. Asked for each again, as an embedded server may come back elsewhere. */
  clientConfig(): ClientConfig;
  /** The server and database for messages, such as `db.example.org:5432/fullmatch`: no user, no password. */
  describe(): string;
}

const CONNECT_TIMEOUT_MS = 15_000;
const STATEMENT_TIMEOUT_MS = 120_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * A `/`, `?` or `#` in a password that is not percent-encoded would end the host there, and make the user and the
 * password the host and the port, which messages show. Then an `@` is left after them: such a URL is refused.
 */
const DATABASE_URL = /^postgres(?:ql)?:\/\/[^/?#]*(?:[/?#][^@]*)?$/;

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

/**
 * The database that a connection URL names, `postgres://user:password@host:port/database` or a socket folder as
 * `postgres://user@/database?host=/folder`. Parameters of the URL win over ours.
 * @throws FullmatchError `invalid_configuration` when the URL has another form; the message does not repeat the URL
 */
export function targetOfUrl(url: Secret, applicationName: string): ConnectionTarget {
  const clientConfig = (): ClientConfig => ({
    ...commonConfig(applicationName),
    connectionString: url.reveal(),
  });
  try {
    if (!DATABASE_URL.test(url.reveal())) throw new TypeError('no PostgreSQL URL');
    const { host, port, database } = new Client(clientConfig());
    return { clientConfig, describe: () => describeServer(host, port, database ?? '') };
  } catch {
    // The driver's error may quote the URL, so it is not passed on.
    throw new FullmatchError(
      'invalid_configuration',
      'DATABASE_URL is not a PostgreSQL URL: expected postgres://user:password@host:port/database, with special characters percent-encoded.',
      { details: { key: 'database.url' } },
    );
  }
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
  const client = new Client({ ...target.clientConfig(), ...overrides });
  // A connection that breaks while idle emits 'error', which would end the process if nobody listened.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end().catch(() => undefined);
    throw mapDatabaseError(error, { server: target.describe() });
  }
}

function describeServer(host: string, port: number, database: string): string {
  return host.startsWith('/')
    ? `socket ${host}, database ${database}`
    : `${host}:${port}/${database}`;
}
