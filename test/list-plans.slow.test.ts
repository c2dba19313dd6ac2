// Every list and search on 100,000 contracts: a page costs as much as it shows, however many other contracts
// exist.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesToHex } from '../src/lib/hex.ts';
import { type ListQuery, type SummaryPage } from '../src/repository/matches/contract-summary.ts';
import { findOnChains } from '../src/repository/matches/find-on-chains.ts';
import { listContracts } from '../src/repository/lists/list-contracts.ts';
import { listNewestContracts } from '../src/repository/lists/list-newest-contracts.ts';
import { readAlternatives } from '../src/repository/matches/read-alternatives.ts';
import { readContractEvents } from '../src/repository/matches/read-contract-events.ts';
import { readCurrentMatches } from '../src/repository/matches/read-current-matches.ts';
import {
  findSameCode,
  searchByAddress,
  searchByHash,
  searchByName,
} from '../src/repository/lists/search-contracts.ts';
import { indexSignatures } from '../src/repository/signatures/index-signatures.ts';
import { sql, type Database, type Queryable } from '../src/store/database.ts';
import { costOf } from './support/explain.ts';
import { fillManyContracts, MANY_CONTRACTS, manyAddress } from './support/many-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const CONTRACTS = 100_000;
const limit = 50;
/** An index look-up: its levels and the row, with some slack. */
const LOOK_UP = 8;
/** A page of contracts: the evidence and the compilation of each are looked up. */
const PAGE = 3 * LOOK_UP * (limit + 1);
/** A filtered search examines a thousand contracts, whatever matches. */
const LOOKED_AT = 1000;
const { cloneCompilation, clonedName, eventful, frequentName } = MANY_CONTRACTS;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await fillManyContracts(testDatabase.database, CONTRACTS);
});
afterAll(() => testDatabase.drop());

const eventfulAddress = manyAddress(eventful.number);
const frequentCode = bytesToHex(createHash('sha256').update(Buffer.alloc(4)).digest());
const nothing: ListQuery = { limit, chainId: 77, match: 'full', origin: 'monitored' };
const middle = String(CONTRACTS / 2);

type Work = (database: Queryable) => Promise<unknown>;

describe('lists and searches cost no more than one page', () => {
  test.each<[string, number, Work]>([
    ['the newest', PAGE, (db) => listNewestContracts(db, { limit })],
    [
      'the newest, starting in the middle',
      PAGE,
      (db) => listNewestContracts(db, { limit, after: middle }),
    ],
    [
      'the newest of an origin without contracts',
      PAGE,
      (db) => listNewestContracts(db, { limit, origin: 'monitored' }),
    ],
    ['the newest of a chain', PAGE, (db) => listNewestContracts(db, { limit, chainId: 3 })],
    ['the newest of a chain without contracts', PAGE, (db) => listNewestContracts(db, nothing)],
    ['a chain, ascending', PAGE, (db) => listContracts(db, 3, { order: 'ascending', limit })],
    ['a chain, descending', PAGE, (db) => listContracts(db, 3, { order: 'descending', limit })],
    [
      'a chain, starting in the middle',
      PAGE,
      (db) => listContracts(db, 3, { order: 'ascending', limit, afterMatchId: middle }),
    ],
    ['by an address prefix', PAGE, (db) => searchByAddress(db, '7', { limit })],
    [
      'by an unused prefix after all addresses',
      LOOK_UP,
      (db) => searchByAddress(db, 'ffffffff', { limit }),
    ],
    [
      'by an unused prefix between addresses',
      LOOK_UP,
      (db) => searchByAddress(db, '7700000000', { limit }),
    ],
    [
      'by an address',
      3 * LOOK_UP,
      (db) => searchByAddress(db, manyAddress(4711).slice(2), { limit }),
    ],
    [
      'by a prefix, with a cursor after all addresses',
      LOOK_UP,
      (db) => searchByAddress(db, '7', { limit, after: `${'f'.repeat(40)}.1` }),
    ],
    [
      'by a prefix, with a cursor before it',
      PAGE,
      (db) => searchByAddress(db, 'ef', { limit, after: `${'0'.repeat(40)}.1` }),
    ],
    ['by an unused name', LOOK_UP, (db) => searchByName(db, 'zzz', { limit })],
    ['by the name of one compilation', 5 * PAGE, (db) => searchByName(db, 'name77x', { limit })],
    ['by a frequent name', 2 * PAGE, (db) => searchByName(db, frequentName, { limit })],
    ['by a frequent word', 2 * PAGE, (db) => searchByName(db, 'token', { limit })],
    [
      'by the name of a compilation with many contracts',
      2 * PAGE,
      (db) => searchByName(db, clonedName, { limit }),
    ],
    [
      'by the name of a compilation with many contracts, near their end',
      2 * PAGE,
      (db) =>
        searchByName(db, clonedName, {
          limit,
          after: `${CONTRACTS - 1000}.${cloneCompilation}.minimalclone`,
        }),
    ],
    [
      'by a name, with a cursor before it',
      LOOK_UP,
      (db) => searchByName(db, 'zzz', { limit, after: `0.${cloneCompilation}.a` }),
    ],
    [
      'by an unknown hash',
      2 * LOOK_UP,
      (db) => searchByHash(db, `0x${'ab'.repeat(32)}`, { limit }),
    ],
    ['by the hash of frequent bytecode', PAGE, (db) => searchByHash(db, frequentCode, { limit })],
    [
      'by the hash of frequent bytecode, starting in the middle',
      PAGE,
      (db) => searchByHash(db, frequentCode, { limit, after: middle }),
    ],
    [
      'the same bytecode',
      PAGE,
      (db) => findSameCode(db, { chainId: 1, address: manyAddress(5) }, { limit }),
    ],
    [
      'the events of a contract with many',
      20 * LOOK_UP,
      (db) => readContractEvents(db, eventful.chainId, eventfulAddress),
    ],
    [
      'the events of a contract with none',
      LOOK_UP,
      (db) => readContractEvents(db, 4, eventfulAddress),
    ],
    [
      'the alternatives of a contract',
      3 * LOOK_UP,
      (db) => readAlternatives(db, eventful.chainId, eventfulAddress),
    ],
    ['an address on all chains', LOOK_UP, (db) => findOnChains(db, [eventfulAddress])],
    ['an address on some chains', LOOK_UP, (db) => findOnChains(db, [eventfulAddress], [1, 2, 3])],
    [
      'the current matches of addresses',
      2 * LOOK_UP,
      (db) =>
        readCurrentMatches(
          db,
          [eventfulAddress, manyAddress(4712)].map((address) => ({ chainId: 2, address })),
        ),
    ],
  ])('%s', async (_title, buffers, work) => {
    const cost = await costOf(testDatabase.database, work);
    expect(cost.scanned).toEqual([]);
    expect(cost.buffers).toBeLessThanOrEqual(buffers);
    // Six scans per page: two matches, three origins.
    expect(cost.rows).toBeLessThanOrEqual(6 * (limit + 1));
  });
});

describe('searches without a result stop after a thousand contracts', () => {
  test.each<[string, number, (db: Queryable, question: ListQuery) => Promise<SummaryPage>]>([
    ['by an address prefix', LOOKED_AT * 2, (db, question) => searchByAddress(db, '7', question)],
    ['by a name', LOOKED_AT * 4 * LOOK_UP, (db, question) => searchByName(db, 'token', question)],
    [
      'by a bytecode hash',
      LOOKED_AT * 2,
      (db, question) => searchByHash(db, frequentCode, question),
    ],
  ])('%s', async (_title, buffers, search) => {
    let page: SummaryPage | undefined;
    const cost = await costOf(testDatabase.database, async (db) => {
      page = await search(db, nothing);
    });
    expect(page?.results).toEqual([]);
    expect(page?.next).toBeDefined();
    expect(cost.scanned).toEqual([]);
    expect(cost.buffers).toBeLessThanOrEqual(buffers);
    expect(cost.rows).toBeLessThanOrEqual(2 * LOOKED_AT);
  });
});

test('searches by address and name return each contract once across pages', async () => {
  const searches: ((question: ListQuery) => Promise<SummaryPage>)[] = [
    (question) => searchByAddress(testDatabase.database, '7700', question),
    (question) => searchByName(testDatabase.database, 'name7', { ...question }),
  ];
  for (const search of searches) {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await search({ limit: 7, ...(after !== undefined && { after }) });
      found.push(...page.results.map(({ chainId, address: at }) => `${chainId} ${at}`));
      after = page.next;
    } while (after !== undefined && found.length < 300);
    expect(new Set(found).size).toBe(found.length);
    const [whole] = await Promise.all([search({ limit: 200 })]);
    expect(found.slice(0, 200)).toEqual(
      whole.results.map(({ chainId, address: at }) => `${chainId} ${at}`),
    );
  }
});

test("new compilations' signatures are counted without a sequential scan", async () => {
  const { database } = testDatabase;
  await database.query(
    sql(
      'note compilations',
      'INSERT INTO signed_compilations (compilation_id) SELECT id FROM compiled_contracts LIMIT 100',
    ),
  );
  // As after an import into an empty database, before PostgreSQL has analyzed its tables.
  const forget =
    'UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0 WHERE oid = ANY ($1::regclass[])';
  const tables = ['verified_contracts', 'contract_deployments', 'current_matches'];
  await database.transaction(async (transaction) => {
    await transaction.query(sql('forget sizes', forget), [tables]);
    await transaction.query(
      sql('forget values', `DELETE FROM pg_statistic WHERE starelid = ANY ($1::regclass[])`),
      [tables],
    );
  });
  const cost = await costOf(database, (queryable) =>
    indexSignatures({ transaction: async (work) => work(queryable) } as Database),
  );
  expect(cost.scanned.filter((table) => tables.includes(table))).toEqual([]);
});
