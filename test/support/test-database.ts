import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { type Client } from 'pg';
import { inject } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { silentLogger } from '../../src/log.ts';
import { connectClient, targetOfUrl } from '../../src/store/connection-target.ts';
import { type Database } from '../../src/store/database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { sqlstateOf } from '../../src/store/sqlstate.ts';
import { emptyDatabase } from './empty-database.ts';
import { testDatabaseUrl } from './global-setup.ts';

/** A database of one test file. */
export interface TestDatabase {
  /** DATABASE_URL for a spawned service. */
  readonly url: string;
  readonly database: Database;
  /** Closes our connections, terminates those of others, and empties the database. */
  drop(): Promise<void>;
}

const CLONE_ATTEMPTS = 20;
const CLONE_DELAY_MS = 100;
const TERMINATION_MS = 10_000;
/** Empty databases used by earlier test files of this process. */
const unused: string[] = [];
/** SQLSTATE of a template with open connections, such as autovacuum's. */
const OBJECT_IN_USE = '55006';

/** Creates an empty database with the newest schema, from the test server's template. */
export async function createTestDatabase(
  options: { poolSize?: number } = {},
): Promise<TestDatabase> {
  const { socketFolder } = inject('testServer');
  const name = unused.pop() ?? (await cloneTemplate());
  const url = testDatabaseUrl(socketFolder, name);
  const store = await openStore(
    { url: new Secret(url), poolSize: options.poolSize ?? 10, dataDir: tmpdir(), migrate: false },
    silentLogger,
  );
  return {
    url,
    database: store.database,
    async drop() {
      await store.close();
      if (await reclaim(name).catch(() => false)) unused.push(name);
      else
        await administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/**
 * Terminates all connections and empties the database.
 * @returns whether it is as good as new
 */
async function reclaim(name: string): Promise<boolean> {
  const { socketFolder, pristine } = inject('testServer');
  const url = new Secret(testDatabaseUrl(socketFolder, name));
  const client = await connectClient(targetOfUrl(url, 'fullmatch test'));
  try {
    // PostgreSQL waits for each process to end, up to this many milliseconds.
    const others =
      'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    await client.query(`SELECT pg_terminate_backend(pid, ${TERMINATION_MS}) ${others}`);
    if ((await client.query(`SELECT ${others}`)).rows.length > 0) return false;
    const isEmpty = await emptyDatabase(client, pristine);
    // By this time a service detects that this is not the database it used before.
    await client.query('UPDATE schema_migrations SET applied_at = clock_timestamp()');
    await client.query('SELECT pg_stat_reset()');
    return isEmpty;
  } finally {
    await client.end();
  }
}

/** Creates a database with nothing in it. */
export async function createEmptyDatabase(): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer((client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`));
  return {
    url: testDatabaseUrl(inject('testServer').socketFolder, name),
    drop: () =>
      administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** Runs statements as superuser of the test server, outside any test database. */
export async function administer(work: (client: Client) => Promise<unknown>): Promise<void> {
  const url = testDatabaseUrl(inject('testServer').socketFolder, 'postgres');
  const client = await connectClient(targetOfUrl(new Secret(url), 'fullmatch test'));
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function cloneTemplate(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer((client) => clone(client, name, inject('testServer').template));
  return name;
}

async function clone(client: Client, name: string, template: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return;
    } catch (error) {
      if (sqlstateOf(error) !== OBJECT_IN_USE || attempt === CLONE_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, CLONE_DELAY_MS));
    }
  }
}
