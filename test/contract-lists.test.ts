// Filtered contract searches, and the totals during writes. Their cost: list-plans.slow.test.ts.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesToHex, type Hex } from '../src/lib/hex.ts';
import { type ListQuery, type SummaryPage } from '../src/repository/matches/contract-summary.ts';
import { advanceFeed } from './support/advance-feed.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import {
  searchByAddress,
  searchByHash,
  searchByName,
} from '../src/repository/lists/search-contracts.ts';
import { listNewestContracts } from '../src/repository/lists/list-newest-contracts.ts';
import { readStatisticsHistory } from '../src/repository/statistics/statistics-history.ts';
import { readStatisticsOverview } from '../src/repository/statistics/statistics-overview.ts';
import { sql } from '../src/store/database.ts';
import { fillContracts } from './support/fill-contracts.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

/** More contracts than a filtered search examines for one page. */
const CONTRACTS = 6_600;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await fillContracts(testDatabase.database, CONTRACTS);
  await advanceFeed(testDatabase.database);
  // The feed follower has written the searchable names.
  await testDatabase.database.query(sql('test analyze', 'ANALYZE'));
}, 240_000);
afterAll(() => testDatabase.drop());

interface Fitting {
  readonly address: string;
  readonly name: string;
  readonly code: string;
}

describe('a filtered search returns every match exactly once across pages', () => {
  const filters = { chainId: 3, match: 'full', origin: 'verified' } as const;
  const FITTING = sql(
    'test fitting',
    `SELECT encode(address, 'hex') AS address, lower(compiled_contracts.name) AS name, encode(current_matches.runtime_code_hash, 'hex') AS code
     FROM current_matches JOIN verified_contracts ON verified_contracts.id = verified_contract_id
     JOIN compiled_contracts ON compiled_contracts.id = compilation_id
     WHERE chain_id = 3 AND match = 'full' AND origin = 'verified'`,
  );
  const code = (): Hex =>
    bytesToHex(
      createHash('sha256')
        .update(Buffer.from([0x60, 2]))
        .digest(),
    );

  test.each<[string, (question: ListQuery) => Promise<SummaryPage>, (row: Fitting) => boolean]>([
    [
      'by address',
      (question) => searchByAddress(testDatabase.database, '00000000', question),
      () => true,
    ],
    [
      'by name',
      (question) => searchByName(testDatabase.database, 'Token', question),
      ({ name }) => name === 'greattoken',
    ],
    [
      'by code hash',
      (question) => searchByHash(testDatabase.database, code(), question),
      (row) => `0x${row.code}` === code(),
    ],
  ])('%s', async (_title, search, isFound) => {
    const rows = await testDatabase.database.query<Fitting>(FITTING);
    const expected = rows.filter(isFound).map(({ address }) => `0x${address}`);
    expect(expected.length).toBeGreaterThan(100);
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await search({ ...filters, limit: 30, ...(after !== undefined && { after }) });
      expect(page.results.length).toBeLessThanOrEqual(30);
      found.push(...page.results.map(({ address }) => address));
      after = page.next;
      if (after === undefined) break;
    }
    expect([...found].sort()).toEqual(expected.sort());
  });
});

test('every total equals the sums over chains, origins and compilers while contracts are written', async () => {
  const { database } = testDatabase;
  let writing = true;
  const today = new Date().toISOString().slice(0, 10);
  const write = async (writer: number): Promise<void> => {
    for (let round = 0; round < 25; round += 1) {
      await saveMatches(
        database,
        Array.from({ length: 8 }, (_, index) =>
          sampleContract(
            1 + ((round + index) % 5),
            sampleAddress(900_000 + writer * 100 + round + index),
            { runtimeMatch: round % 2 === 0 ? 'partial' : 'full' },
            { variant: 5000 + writer },
          ),
        ),
      );
    }
  };
  const add = (all: readonly { full: number; partial: number }[]): number[] => [
    all.reduce((sum, { full }) => sum + full, 0),
    all.reduce((sum, { partial }) => sum + partial, 0),
  ];
  let reads = 0;
  const read = async (): Promise<void> => {
    let least = 0;
    while (writing) {
      const overview = await readStatisticsOverview(database);
      const totals = add(overview.chains);
      expect(add(Object.values(overview.origins))).toEqual(totals);
      expect(add(overview.compilers)).toEqual(totals);
      const { points } = await readStatisticsHistory(database, {
        interval: 'day',
        from: '2020-01-01',
        to: today,
      });
      expect(points[0]).toMatchObject({ full: 0, partial: 0 });
      const count = points.at(-1)!.full + points.at(-1)!.partial;
      expect(count).toBeGreaterThanOrEqual(totals[0]! + totals[1]!);
      expect(count).toBeGreaterThanOrEqual(least);
      least = count;
      reads += 1;
    }
  };
  const follow = async (): Promise<void> => {
    while (writing) await advanceFeed(database);
  };
  const others = Promise.all([read(), follow(), follow()]);
  await Promise.all([1, 2, 3, 4].map(write));
  writing = false;
  await others;
  await advanceFeed(database);
  expect(reads).toBeGreaterThan(1);
  const { differences } = await recount(database, { repair: false });
  expect(differences.filter(({ kind }) => kind === 'rollup_against_events')).toEqual([]);
}, 240_000);

test('shows the first 1,024 characters of a name stored before names were limited', async () => {
  const { database } = testDatabase;
  const contract = sampleContract(4_242, sampleAddress(4_242), { runtimeMatch: 'full' });
  const { compilation } = contract;
  await saveMatches(database, [
    { ...contract, compilation: { ...compilation, name: 'y'.repeat(100_000) } },
  ]);
  const { results } = await listNewestContracts(database, { chainId: 4_242, limit: 10 });
  expect(results).toMatchObject([{ name: 'y'.repeat(1_024) }]);
});

test('a search by a non-ASCII name finds it unchanged', async () => {
  const { database } = testDatabase;
  const names = ['ÉTOILE', 'Straße', 'İstanbul', 'ΣΑΣ'];
  for (const [index, name] of names.entries()) {
    const sample = sampleContract(1, sampleAddress(900_000 + index), { runtimeMatch: 'full' });
    const compilation = { ...sample.compilation, name, fullyQualifiedName: `a.sol:${name}` };
    await saveMatches(database, [{ ...sample, compilation }]);
  }
  await advanceFeed(database);
  for (const name of names) {
    const { results } = await searchByName(database, name, { limit: 5 });
    expect(results.map((found) => found.name)).toEqual([name]);
  }
});
