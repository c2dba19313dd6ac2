// The lists and searches of contracts on a filled table: each statement reads its page by an index.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesToHex, type Hex } from '../src/lib/hex.ts';
import { type ListQuestion, type SummaryPage } from '../src/repository/contract-summary.ts';
import { LIST_NEWEST, LIST_NEWEST_OF_CHAIN } from '../src/repository/list-newest-contracts.ts';
import { recount } from '../src/repository/recount.ts';
import { saveMatches } from '../src/repository/save-matches.ts';
import {
  FIND_SAME_CODE,
  LOOKED_AT,
  SEARCH_BY_ADDRESS,
  SEARCH_BY_NAME,
  searchByAddress,
  searchByCodeHash,
  searchByName,
} from '../src/repository/search-contracts.ts';
import { readStatisticsHistory } from '../src/repository/statistics-history.ts';
import { readStatisticsOverview } from '../src/repository/statistics-overview.ts';
import { sql, type Statement } from '../src/store/database.ts';
import { explain } from './support/explain.ts';
import { fillContracts } from './support/fill-contracts.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const CONTRACTS = 50_000;
const PAGE = 51;
/** Rows that a page may touch: six scans of a page, a few look-ups for each row shown. */
const MOST_ROWS = 20 * PAGE;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await fillContracts(testDatabase.database, CONTRACTS);
}, 240_000);
afterAll(() => testDatabase.drop());

interface Fitting {
  readonly address: string;
  readonly name: string;
  readonly code: string;
}

const ALL_MATCHES = ['full', 'partial'];
const ALL_ORIGINS = ['verified', 'imported', 'monitored'];
const LAST = '9223372036854775807';
/** The values of a search without filters, and with those that nothing fits. */
const ALL = [PAGE, PAGE, null, null, null];
const NONE = [LOOKED_AT, PAGE, 77, 'full', 'monitored'];
const NIL = '00000000-0000-0000-0000-000000000000';

describe('a page of contracts is read by an index', () => {
  test.each<[string, Statement, unknown[]]>([
    ['newest', LIST_NEWEST, [ALL_MATCHES, ALL_ORIGINS, LAST, PAGE]],
    ['newest of an origin that hardly occurs', LIST_NEWEST, [['full'], ['monitored'], LAST, PAGE]],
    ['newest from the middle', LIST_NEWEST, [ALL_MATCHES, ALL_ORIGINS, CONTRACTS / 2, PAGE]],
    ['newest of a chain', LIST_NEWEST_OF_CHAIN, [ALL_MATCHES, ALL_ORIGINS, LAST, PAGE, 3]],
    [
      'by address',
      SEARCH_BY_ADDRESS,
      [...ALL, Buffer.alloc(20, 0), Buffer.alloc(20, 255), Buffer.alloc(0), 0],
    ],
    [
      'by address, of a match and an origin that nothing has',
      SEARCH_BY_ADDRESS,
      [...NONE, Buffer.alloc(20, 0), Buffer.alloc(20, 255), Buffer.alloc(0), 0],
    ],
    [
      'by a name that is frequent',
      SEARCH_BY_NAME,
      [...ALL, 'token', 'token\u{10FFFF}', 'token', NIL, '0'],
    ],
    [
      'by a name that is frequent, on a chain that has nothing',
      SEARCH_BY_NAME,
      [...NONE, 'token', 'token\u{10FFFF}', 'token', NIL, '0'],
    ],
    [
      'by a name of which there is one',
      SEARCH_BY_NAME,
      [...ALL, 'name7x', 'name7x\u{10FFFF}', 'name7x', NIL, '0'],
    ],
  ])('%s', async (_title, statement, values) => {
    const plans = await explain(testDatabase.database, statement, values);
    const scanned = plans.filter((plan) => plan['Node Type'] === 'Seq Scan');
    expect(scanned.map((plan) => plan['Relation Name'])).toEqual([]);
    const most = Math.max(...plans.map((plan) => plan['Actual Rows'] * plan['Actual Loops']));
    expect(most).toBeLessThanOrEqual(MOST_ROWS);
  });

  test.each([
    ['', ALL],
    [', on a chain that has nothing', NONE],
  ])('the same code, of a code that a tenth of the contracts run%s', async (_title, filters) => {
    const [code] = await testDatabase.database.query<{ runtime_code_hash: Buffer }>(
      sql(
        'test frequent code',
        `SELECT runtime_code_hash FROM current_matches WHERE runtime_code_hash IS NOT NULL LIMIT 1`,
      ),
    );
    const values = [...filters, code!.runtime_code_hash, LAST, 1, Buffer.alloc(20)];
    const plans = await explain(testDatabase.database, FIND_SAME_CODE, values);
    expect(plans.filter((plan) => plan['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(
      Math.max(...plans.map((plan) => plan['Actual Rows'] * plan['Actual Loops'])),
    ).toBeLessThanOrEqual(MOST_ROWS);
  });
});

describe('a search with filters finds, page after page, all that fit and each once', () => {
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

  test.each<[string, (question: ListQuestion) => Promise<SummaryPage>, (row: Fitting) => boolean]>([
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
      (question) => searchByCodeHash(testDatabase.database, code(), question),
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

test('while writers store, every total equals the sums over chains, origins and compilers, and the end of the history', async () => {
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
  const reading = read();
  await Promise.all([1, 2, 3, 4].map(write));
  writing = false;
  await reading;
  expect(reads).toBeGreaterThan(1);
  const { differences } = await recount(database, { repair: false });
  expect(differences.filter(({ kind }) => kind === 'rollup_against_events')).toEqual([]);
}, 240_000);
