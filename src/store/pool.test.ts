import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  administer,
  createTestDatabase,
  type TestDatabase,
} from '../../test/support/test-database.ts';
import { Secret } from '../lib/secret.ts';
import { silentLogger } from '../log.ts';
import { sql, type Statement } from './database.ts';
import { openStore } from './open-store.ts';

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: 4 });
  await testDatabase.database.query(
    sql('test: create', 'CREATE TABLE accounts (id integer PRIMARY KEY, balance bigint NOT NULL)'),
  );
});
afterAll(() => testDatabase.drop());

/** Timeout for events that a test does not control; generous for busy machines. */
const SOON = { timeout: 60_000 };
const SET = sql(
  'test: set',
  'INSERT INTO accounts VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance',
);
const ADD = sql('test: add', 'UPDATE accounts SET balance = balance + $2 WHERE id = $1');
const READ = sql('test: read', 'SELECT balance FROM accounts WHERE id = $1');
const FAIL = sql('test: fail', 'SELECT 1 / 0');
const NOTIFY = sql('test: notify', `SELECT pg_notify('test_channel', '')`);

/**
 * Breaks all connections to the test database, as a restart of PostgreSQL does. A statement that gets an idle
 * connection before its end is noticed still fails, so later steps are retried until they succeed.
 */
async function cutConnections(): Promise<void> {
  const name = new URL(testDatabase.url.replace('@/', '@host/')).pathname.slice(1);
  await administer((client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
      name,
    ]),
  );
}

describe('Statement', () => {
  test('returns rows, with bigint as string and bytea as Buffer', async () => {
    const rows = await testDatabase.database.query(
      sql(
        'test: types',
        `SELECT 9007199254740993::bigint AS big, '\\x00ff'::bytea AS bytes, $1::text[] AS list`,
      ),
      [['a', 'b']],
    );
    expect(rows).toEqual([
      { big: '9007199254740993', bytes: Buffer.from([0, 255]), list: ['a', 'b'] },
    ]);
  });

  test('is prepared under its label', async () => {
    const database = await createTestDatabase({ poolSize: 1 });
    const label = 'test: prepared';
    await database.database.query(sql(label, 'SELECT 1'));
    const prepared = await database.database.query(
      sql('test: list prepared', 'SELECT name FROM pg_prepared_statements'),
    );
    await database.drop();
    expect(prepared).toContainEqual({ name: label });
  });

  test('with a fixed plan keeps it for all values and leaves the settings of others alone', async () => {
    const database = await createTestDatabase({ poolSize: 1 });
    const run = (statement: Statement, value: string) =>
      database.database.query<{ rows: string }>(statement, [value]);
    const counting = 'SELECT count(*) AS rows FROM pg_class WHERE relname < $1';
    const once = sql('test: planned once', counting, 'once');
    const each = sql('test: planned as PostgreSQL decides', counting);
    const failing = sql('test: planned once, fails', 'SELECT 1 / $1::int', 'once');
    for (const value of ['a', 'pg_d', 'z']) {
      expect(await run(once, value)).toEqual(await run(each, value));
      await expect(run(failing, '0')).rejects.toMatchObject({ details: { sqlstate: '22012' } });
    }
    const plans = await database.database.query(
      sql(
        'test: list plans',
        `SELECT name, generic_plans, custom_plans FROM pg_prepared_statements WHERE name LIKE 'test: planned%'`,
      ),
    );
    await database.drop();
    expect(plans).toContainEqual({ name: once.label, generic_plans: '3', custom_plans: '0' });
    expect(plans).toContainEqual({ name: each.label, generic_plans: '0', custom_plans: '3' });
  });

  test('that fails reports its label and SQLSTATE and keeps the pool usable', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      await expect(testDatabase.database.query(FAIL)).rejects.toMatchObject({
        code: 'database_error',
        details: { sqlstate: '22012', statement: 'test: fail' },
      });
    }
    expect(await testDatabase.database.query(sql('test: one', 'SELECT 1 AS one'))).toEqual([
      { one: 1 },
    ]);
  });

  test('fails on a cut connection, and later ones succeed without a restart', async () => {
    const run = () => testDatabase.database.query(sql('test: one', 'SELECT 1 AS one'));
    const sleeping = testDatabase.database.query(sql('test: sleep', 'SELECT pg_sleep(5)'));
    const failed = expect(sleeping).rejects.toMatchObject({ code: 'database_unreachable' });
    await Promise.all([run(), run()]);
    await cutConnections();
    await failed;
    expect(await vi.waitFor(run, SOON)).toEqual([{ one: 1 }]);
  });

  test('has a timeout, also for idle transactions', async () => {
    const [limits] = await testDatabase.database.query<Record<string, string>>(
      sql(
        'test: limits',
        `SELECT current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle`,
      ),
    );
    expect(limits).toEqual({ statement: '2min', idle: '1min' });
  });
});

describe('Transaction', () => {
  test('commits when its callback returns and rolls back when it throws', async () => {
    await testDatabase.database.transaction((transaction) => transaction.query(SET, [1, 10]));
    const failed = testDatabase.database.transaction(async (transaction) => {
      await transaction.query(SET, [1, 99]);
      throw new RangeError('changed my mind');
    });
    await expect(failed).rejects.toThrow(RangeError);
    expect(await testDatabase.database.query(READ, [1])).toEqual([{ balance: '10' }]);
  });

  test('retries after a deadlock until both sides succeed', async () => {
    await testDatabase.database.query(SET, [1, 0]);
    await testDatabase.database.query(SET, [2, 0]);
    let runs = 0;
    const move = (from: number, to: number) =>
      testDatabase.database.transaction(async (transaction) => {
        runs += 1;
        await transaction.query(ADD, [from, -1]);
        await transaction.query(sql('test: pause', 'SELECT pg_sleep(0.2)'));
        await transaction.query(ADD, [to, 1]);
      });
    await Promise.all([move(1, 2), move(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    expect(await testDatabase.database.query(READ, [1])).toEqual([{ balance: '0' }]);
  });

  test('is tried at most six times on serialization failures', async () => {
    let runs = 0;
    const fail = sql('test: fail to serialise', `DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`);
    const failed = testDatabase.database.transaction(async (transaction) => {
      runs += 1;
      await transaction.query(fail);
    });
    await expect(failed).rejects.toMatchObject({
      code: 'database_unavailable',
      details: { sqlstate: '40001' },
    });
    expect(runs).toBe(6);
  });

  test('fails if its callback swallows a failed statement', async () => {
    const hidden = testDatabase.database.transaction(async (transaction) => {
      await transaction.query(SET, [1, 77]);
      await transaction.query(FAIL).catch(() => undefined);
    });
    await expect(hidden).rejects.toMatchObject({ details: { sqlstate: '22012' } });
    expect(await testDatabase.database.query(READ, [1])).toEqual([{ balance: '0' }]);
  });

  test('rejects statements after its end', async () => {
    const leaked = await testDatabase.database.transaction((transaction) =>
      Promise.resolve({ transaction }),
    );
    await expect(leaked.transaction.query(READ, [1])).rejects.toMatchObject({
      code: 'internal_error',
    });
  });

  test('fails as unreachable if its connection is cut, and is not applied', async () => {
    await testDatabase.database.query(SET, [3, 1]);
    const cut = testDatabase.database.transaction(async (transaction) => {
      await transaction.query(SET, [3, 2]);
      await cutConnections();
      await transaction.query(SET, [3, 3]);
    });
    await expect(cut).rejects.toMatchObject({ code: 'database_unreachable' });
    expect(await vi.waitFor(() => testDatabase.database.query(READ, [3]), SOON)).toEqual([
      { balance: '1' },
    ]);
  });
});

describe('Listener', () => {
  test('receives notifications, reconnects after a cut and notifies on reconnect', async () => {
    let heard = 0;
    const stop = await testDatabase.database.listen('test_channel', () => (heard += 1));
    await testDatabase.database.query(NOTIFY);
    await expect.poll(() => heard, SOON).toBe(1);
    await cutConnections();
    await expect.poll(() => heard, SOON).toBe(2);
    await vi.waitFor(() => testDatabase.database.query(NOTIFY), SOON);
    await expect.poll(() => heard, SOON).toBe(3);
    await stop();
    let others = 0;
    const stopOther = await testDatabase.database.listen('test_channel', () => (others += 1));
    await testDatabase.database.query(NOTIFY);
    await expect.poll(() => others, SOON).toBe(1);
    expect(heard).toBe(3);
    await stopOther();
  });

  test('keeps listening after its callback throws', async () => {
    let heard = 0;
    const stop = await testDatabase.database.listen('test_channel', () => {
      heard += 1;
      throw new Error('bad listener');
    });
    await testDatabase.database.query(NOTIFY);
    await testDatabase.database.query(NOTIFY);
    await expect.poll(() => heard, SOON).toBe(2);
    await stop();
  });

  test('rejects an invalid channel name', async () => {
    await expect(
      testDatabase.database.listen('a"; DROP TABLE accounts', () => undefined),
    ).rejects.toThrow(TypeError);
  });
});

describe('Server configured by URL', () => {
  const open = (url: string) =>
    openStore({ url: new Secret(url), poolSize: 1, dataDir: '/' }, silentLogger);

  test('that does not respond is unreachable, shown without its user', async () => {
    const error: unknown = await open('postgres://alice:hidden@127.0.0.1:1/verified').catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'database_unreachable',
      details: { server: '127.0.0.1:1/verified' },
    });
    expect(String(error)).toContain('127.0.0.1:1/verified');
    expect(String(error)).not.toMatch(/alice|hidden/);
  });

  test('without the database fails permanently instead of waiting', async () => {
    await expect(open(testDatabase.url.replace(/@\/\w+/, '@/missing'))).rejects.toMatchObject({
      code: 'database_error',
      details: { sqlstate: '3D000' },
    });
  });

  test('receives no statement after the store is closed', async () => {
    const store = await open(testDatabase.url);
    await Promise.all([store.close(), store.close()]);
    await expect(store.database.query(READ, [1])).rejects.toMatchObject({
      code: 'database_unreachable',
    });
  });
});
