import { type Client, type ClientConfig } from 'pg';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { type ConnectionTarget, connectClient } from './connection-target.ts';
import { logMigrations, migrate } from './migrate.ts';
import { createDatabasePool, type DatabasePool } from './pool.ts';
import { mapDatabaseError } from './sqlstate.ts';

/** The same tables in another PostgreSQL schema; its statements cannot see the others. */
function targetOfSchema(target: ConnectionTarget, schema: string): ConnectionTarget {
  const given = new WeakMap<ClientConfig, ClientConfig>();
  return {
    clientConfig: () => {
      const config = target.clientConfig();
      const own = { ...config, options: `-c search_path=${schema}` };
      given.set(own, config);
      return own;
    },
    describe: () => `${target.describe()}, schema ${schema}`,
    get isPooled() {
      return target.isPooled === true;
    },
    servers: target.servers ?? 1,
    greet: async (client) => target.greet?.(client),
    turnFrom: (config, error) => target.turnFrom?.(given.get(config) ?? config, error) === true,
  };
}

/**
 * Opens the tables of a schema, creating and migrating it if necessary.
 * @param size maximum connections
 * @throws FullmatchError `invalid_configuration` if a pooler or the URL prevents the use of the schema; as
 * {@link migrate}
 */
export async function openSchema(
  target: ConnectionTarget,
  schema: string,
  size: number,
  log: Logger,
): Promise<DatabasePool> {
  await withClient(target, async (client) => {
    if (target.isPooled === true) throw outsideSchema(schema);
    await createSchema(client, schema);
  });
  const own = targetOfSchema(target, schema);
  await withClient(own, async (client) => {
    await requireSchema(client, schema);
    logMigrations(log, await migrate(client), schema);
  });
  return createDatabasePool(own, size, log);
}

/** Whether the database has the schema with its tables. */
export async function hasSchema(target: ConnectionTarget, schema: string): Promise<boolean> {
  return withClient(target, async (client) => {
    const { rows } = await client.query<{ known: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS known',
      [`${schema}.schema_migrations`],
    );
    return rows[0]?.known === true;
  });
}

async function withClient<T>(
  target: ConnectionTarget,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connectClient(target);
  try {
    return await work(client);
  } catch (error) {
    throw mapDatabaseError(error, { statement: 'open a schema' });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Creates a schema if it is missing. Two concurrent CREATE SCHEMA would collide. */
export async function createSchema(client: Client, schema: string): Promise<void> {
  await client.query('BEGIN');
  await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...ADVISORY_LOCKS.migration]);
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  // If it exists, the right to create it is not needed.
  if (rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`);
  await client.query('COMMIT');
}

/** Rows of the schema must never end up in the main tables. */
async function requireSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ path: string }>(
    `SELECT current_setting('search_path') AS path`,
  );
  if (rows[0]?.path === schema) return;
  throw outsideSchema(schema);
}

function outsideSchema(schema: string): FullmatchError {
  return new FullmatchError(
    'invalid_configuration',
    `Connections to the database do not stay in the schema ${schema}: a pooler drops the option search_path, or DATABASE_URL sets options. Set DATABASE_LISTEN_URL to a direct connection to PostgreSQL.`,
    { details: { key: 'database.url' } },
  );
}
