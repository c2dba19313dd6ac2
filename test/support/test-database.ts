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
import { testDatabaseUrl } from './global-setup.ts';

/** A database of one test file. */
export interface TestDatabase {
  /** As DATABASE_URL of a spawned service. */
  readonly url: string;
  readonly database: Database;
  /** Ends our connections, cuts off those of others, and drops the database. */
  drop(): Promise<void>;
}

const CLONE_ATTEMPTS = 20;
const CLONE_DELAY_MS = 100;
/** The SQLSTATE of a template that someone is connected to, such as autovacuum. */
const OBJECT_IN_USE = '55006';

/** A fresh database with the newest schema, cloned from the template of the test server. */
export async function createTestDatabase(
  options: { poolSize?: number } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { socketFolder, template } = inject('testServer');
  await administer((client) => clone(client, name, template));
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
      await administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** A database with nothing in it. */
export async function createEmptyDatabase(): Promise<Pick<TestDatabase, 'url' | 'drop'>> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer((client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`));
  return {
    url: testDatabaseUrl(inject('testServer').socketFolder, name),
    drop: () =>
      administer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** Runs statements as the superuser of the test server, outside any test database. */
export async function administer(work: (client: Client) => Promise<unknown>): Promise<void> {
  const url = testDatabaseUrl(inject('testServer').socketFolder, 'postgres');
  const client = await connectClient(targetOfUrl(new Secret(url), 'fullmatch test'));
  try {
    await work(client);
  } finally {
    await client.end();
  }
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
