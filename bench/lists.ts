/**
 * Every list and search of contracts with 5,000 and with 1,000,000 of them: `npx tsx bench/lists.ts
 * [contracts …]`. Each is compared with a SELECT by primary key on the same server, and with its own time at
 * the first number of contracts.
 */
import path from 'node:path';
import { silentLogger } from '../src/log.ts';
import { findOnChains } from '../src/repository/matches/find-on-chains.ts';
import { listContracts } from '../src/repository/lists/list-contracts.ts';
import { listNewestContracts } from '../src/repository/lists/list-newest-contracts.ts';
import { readAlternatives } from '../src/repository/matches/read-alternatives.ts';
import { readContractEvents } from '../src/repository/matches/read-contract-events.ts';
import {
  findSameCode,
  searchByAddress,
  searchByHash,
  searchByName,
} from '../src/repository/lists/search-contracts.ts';
import { sql, type Database, type Queryable } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { costOf } from '../test/support/explain.ts';
import { fillManyContracts, MANY_CONTRACTS, manyAddress } from '../test/support/many-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { median } from './median.ts';

const SIZES = [5_000, 1_000_000];
const ROUNDS = 15;
const { chainId, number } = MANY_CONTRACTS.eventful;
const eventful = manyAddress(number);
const limit = 50;
const rare = { limit, chainId: 77, match: 'full', origin: 'monitored' } as const;

type Work = (database: Queryable, contracts: number) => Promise<unknown>;

const REFERENCES: readonly (readonly [string, Work])[] = [
  [
    'reference: SELECT by primary key',
    (db) => db.query(sql('bench by key', 'SELECT * FROM verified_contracts WHERE id = 4711')),
  ],
  [
    'reference: count(*) of current matches',
    (db) => db.query(sql('bench count', 'SELECT count(*) FROM current_matches')),
  ],
];
const LISTS: readonly (readonly [string, Work])[] = [
  ['newest', (db) => listNewestContracts(db, { limit })],
  ['newest from the middle on', (db, n) => listNewestContracts(db, { limit, after: `${n / 2}` })],
  ['newest, filters that nothing fits', (db) => listNewestContracts(db, rare)],
  ['of a chain, descending', (db) => listContracts(db, 3, { order: 'descending', limit })],
  ['by address, a prefix', (db) => searchByAddress(db, '7', { limit })],
  ['by address, no hit', (db) => searchByAddress(db, 'ffffffff', { limit })],
  ['by address, filters that nothing fits', (db) => searchByAddress(db, '7', rare)],
  ['by name, one', (db) => searchByName(db, 'name77x', { limit })],
  ['by name, half of all', (db) => searchByName(db, 'token', { limit })],
  [
    'by name, one compilation of a tenth, near its end',
    (db, n) =>
      searchByName(db, MANY_CONTRACTS.clonedName, {
        limit,
        after: `${n - 1000}.${MANY_CONTRACTS.cloneCompilation}.minimalclone`,
      }),
  ],
  ['by name, no hit', (db) => searchByName(db, 'zzz', { limit })],
  ['by name, filters that nothing fits', (db) => searchByName(db, 'token', rare)],
  ['by code hash, no hit', (db) => searchByHash(db, `0x${'ab'.repeat(32)}`, { limit })],
  [
    'same code, a fifth of all',
    (db) => findSameCode(db, { chainId: 1, address: manyAddress(5) }, { limit }),
  ],
  ['events of a contract with 1,001', (db) => readContractEvents(db, chainId, eventful)],
  ['alternatives of a contract', (db) => readAlternatives(db, chainId, eventful)],
  ['an address on all chains', (db) => findOnChains(db, [eventful])],
];

interface Measured {
  readonly ms: number;
  readonly buffers: number;
}

async function measure(database: Database, contracts: number, work: Work): Promise<Measured> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await work(database, contracts);
    times.push(performance.now() - start);
  }
  const { buffers } = await costOf(database, (explained) => work(explained, contracts));
  return { ms: median(times), buffers };
}

async function measureAll(contracts: number): Promise<ReadonlyMap<string, Measured>> {
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const options = { poolSize: 1, dataDir: path.join(folder.path, 'data') };
  const store = await openStore(options, silentLogger);
  try {
    await fillManyContracts(store.database, contracts);
    const measured = new Map<string, Measured>();
    for (const [what, work] of [...REFERENCES, ...LISTS]) {
      measured.set(what, await measure(store.database, contracts, work));
    }
    return measured;
  } finally {
    await store.close();
    await folder.remove();
  }
}

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : SIZES;
const results = new Map<number, ReadonlyMap<string, Measured>>();
for (const contracts of sizes) results.set(contracts, await measureAll(contracts));
const smallest = sizes[0] ?? 0;
console.table(
  [...REFERENCES, ...LISTS].map(([what]) => {
    const first = results.get(smallest)?.get(what);
    const cells = sizes.map((size) => {
      const found = results.get(size)?.get(what);
      const key = results.get(size)?.get(REFERENCES[0]?.[0] ?? '')?.ms ?? Number.NaN;
      const of = (value: number | undefined): string => (value ?? Number.NaN).toFixed(2);
      return [
        [`${size}: ms`, of(found?.ms)],
        [`${size}: of a key`, ((found?.ms ?? Number.NaN) / key).toFixed(1)],
        [`${size}: buffers`, found?.buffers],
        ...(size === smallest
          ? []
          : [
              [
                `of ${smallest}`,
                ((found?.ms ?? Number.NaN) / (first?.ms ?? Number.NaN)).toFixed(2),
              ],
            ]),
      ] as [string, unknown][];
    });
    return { what, ...(Object.fromEntries(cells.flat()) as Record<string, unknown>) };
  }),
);
