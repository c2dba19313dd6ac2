import { expect, test } from 'vitest';
import { stubDatabase } from '../../../test/support/gate.ts';
import { createTestDatabase } from '../../../test/support/test-database.ts';
import { silentLogger } from '../../log.ts';
import { sql, type Database } from '../../store/database.ts';
import { startRecheckWalk } from './recheck-walk.ts';

const ADD = 'add chains to recheck';
const TAKE = 'take next contract to recheck';

const LEFT = sql(
  'test: until the next recheck',
  'SELECT extract(epoch FROM next_at - now())::float8 * 1000 AS ms FROM code_rechecks ORDER BY chain_id',
);
const within =
  (least: number, most: number) =>
  (value: unknown): boolean =>
    Number(value) >= least && Number(value) <= most;

/** Runs a walk that blocks at one statement, closes it there, and returns the statements that ran. */
async function closeAt(label: string): Promise<readonly string[]> {
  const due = [{ chain_id: '7', address: Buffer.alloc(20, 1) }];
  const stub = stubDatabase(label, (each) => (each === TAKE ? due : []));
  const parts = { findSupportedChain: () => ({ record: { chainId: 7 } }) };
  const walk = startRecheckWalk(
    stub as unknown as Database,
    parts as unknown as Parameters<typeof startRecheckWalk>[1],
    () => [7],
    { roundSeconds: 1 },
    silentLogger,
  );
  await stub.closeWhileHeld(() => walk.close());
  return stub.ran;
}

test('takes no further contract after shutdown begins', async () => {
  expect(await closeAt(ADD)).toEqual([ADD]);
});

test('does not check a contract claimed during shutdown', async () => {
  expect(await closeAt(TAKE)).toEqual([ADD, TAKE]);
});

test('paces a round independently of the contract count, from one a minute to ten a second', async () => {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const month = 2_592_000;
  await database.query(
    sql(
      'test: counts of chains',
      'INSERT INTO chain_counts (chain_id, full_match) VALUES (2, 1000000), (3, 1000000000)',
    ),
  );
  const walk = startRecheckWalk(
    database,
    { findSupportedChain: () => ({}) } as unknown as Parameters<typeof startRecheckWalk>[1],
    () => [1, 2, 3],
    { roundSeconds: month },
    silentLogger,
  );
  const left = async (): Promise<readonly number[]> => {
    const rows = await database.query<{ ms: number }>(LEFT);
    return rows.map(({ ms }) => ms);
  };
  await expect
    .poll(left)
    .toEqual([
      expect.toSatisfy(within(3_000, 60_000)),
      expect.toSatisfy(within(101, 2_592)),
      expect.toSatisfy(within(-Infinity, 100)),
    ]);
  await walk.close();
  await testDatabase.drop();
});
