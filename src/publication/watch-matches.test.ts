import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { silentLogger } from '../log.ts';
import { sql } from '../store/database.ts';
import { saveMatch } from '../repository/matches/save-matches.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { watchMatches } from './watch-matches.ts';
import { withdrawMatch } from '../repository/matches/withdraw-match.ts';

const NEVER_MS = 2 ** 31 - 1;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** Watches, and gives a promise for the moment at which a refresh sees so many full matches on the chain. */
async function watchFor(
  chainId: number,
  pollMs: number,
): Promise<{ seen: (full: number) => Promise<void>; close: () => Promise<void> }> {
  const { database } = testDatabase;
  let latest = -1;
  const waiting = new Set<() => void>();
  const refresh = async (): Promise<void> => {
    const { chains } = await readStatistics(database);
    latest = chains.find((chain) => chain.chainId === chainId)?.full ?? -1;
    for (const look of waiting) look();
  };
  const watch = await watchMatches(database, { pollMs, refresh, log: silentLogger });
  const seen = (full: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (latest !== full) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { seen, close: () => watch.close() };
}

test('a stored, and a withdrawn, match is seen by its notification alone', async () => {
  const watch = await watchFor(1, NEVER_MS);
  const address = sampleAddress(1);
  await saveMatch(testDatabase.database, sampleContract(1, address, { runtimeMatch: 'full' }));
  await watch.seen(1);
  await withdrawMatch(testDatabase.database, { chainId: 1, address, reason: 'test' });
  await watch.seen(0);
  await watch.close();
});

test('a change whose notification is lost is seen by the poll', async () => {
  const watch = await watchFor(2, 50);
  const statement = sql(
    'test change',
    `INSERT INTO chain_counts (chain_id, full_match) VALUES (2, 5)`,
  );
  await testDatabase.database.query(statement);
  await watch.seen(5);
  await watch.close();
});

test('what arrives while a refresh runs is covered by one more refresh after it', async () => {
  let runs = 0;
  let release: () => void = () => undefined;
  const watch = await watchMatches(testDatabase.database, {
    pollMs: 10,
    refresh: async () => {
      runs += 1;
      if (runs === 1) await new Promise<void>((resolve) => (release = resolve));
    },
    log: silentLogger,
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(runs).toBe(1);
  release();
  await expect.poll(() => runs).toBeGreaterThan(1);
  await watch.close();
});

test('a failed refresh is tried again at the next turn', async () => {
  let runs = 0;
  const watch = await watchMatches(testDatabase.database, {
    pollMs: 10,
    refresh: async () => {
      runs += 1;
      if (runs === 1) throw new Error('once');
    },
    log: silentLogger,
  });
  await expect.poll(() => runs).toBeGreaterThan(1);
  await watch.close();
});
