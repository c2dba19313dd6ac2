/**
 * Stores per second and the import rate, each compared with plain INSERTs in the same run: `npx tsx
 * bench/store.ts`.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { importRepository } from '../src/importer/import-repository.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { sql, type Database } from '../src/store/database.ts';
import { openStore } from '../src/store/open-store.ts';
import { manyContracts, writeExampleTree } from '../test/support/example-tree.ts';
import { sampleAddress, sampleContract } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { median } from './median.ts';

const ROUNDS = 5;
const ROUND_MS = 2_000;
const IMPORTED = 2_000;
const INSERT_PLAIN = sql(
  'bench plain insert',
  `INSERT INTO bench_rows (chain_id, address) SELECT * FROM unnest($1::bigint[], $2::bytea[])`,
);

/** One line of the table: contracts per second. */
export interface StoreBenchmarkRow {
  readonly what: string;
  readonly perSecond: number;
  /** Rows per second of plain INSERTs with the same writers and rows per transaction. */
  readonly plain: number | string;
  readonly ratio: string;
}

let nextNumber = 0;

/** Contracts per second that `writers` store in batches of `size`. */
async function measureRate(
  writers: number,
  size: number,
  store: (numbers: readonly number[]) => Promise<unknown>,
): Promise<number> {
  const start = performance.now();
  let stored = 0;
  const write = async (): Promise<void> => {
    while (performance.now() - start < ROUND_MS) {
      await store(Array.from({ length: size }, () => (nextNumber += 1)));
      stored += size;
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return (stored * 1000) / (performance.now() - start);
}

async function measureStores(
  database: Database,
  writers: number,
  size: number,
): Promise<StoreBenchmarkRow> {
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(
      await measureRate(writers, size, (numbers) =>
        saveMatches(
          database,
          numbers.map((number) =>
            sampleContract(
              1 + (number % 5),
              sampleAddress(number),
              { runtimeMatch: 'full' },
              { variant: number % 100 },
            ),
          ),
        ),
      ),
    );
    plain.push(
      await measureRate(writers, size, (numbers) =>
        database.query(INSERT_PLAIN, [
          numbers.map((number) => 1 + (number % 5)),
          numbers.map((number) => Buffer.from(sampleAddress(number).slice(2), 'hex')),
        ]),
      ),
    );
  }
  return {
    what: `${writers} writers, ${size} in a transaction`,
    perSecond: Math.round(median(ours)),
    plain: Math.round(median(plain)),
    ratio: (median(ours) / median(plain)).toFixed(3),
  };
}

async function measureImport(database: Database, folder: string): Promise<StoreBenchmarkRow[]> {
  await writeExampleTree(folder, { layout: 'v1', contracts: manyContracts(IMPORTED) });
  const rate = async (): Promise<number> => {
    const start = performance.now();
    await importRepository({ path: folder, database, dryRun: false, log: silentLogger });
    return (IMPORTED * 1000) / (performance.now() - start);
  };
  const first = await rate();
  const second = await rate();
  const row = (what: string, perSecond: number): StoreBenchmarkRow => ({
    what,
    perSecond: Math.round(perSecond),
    plain: '',
    ratio: `${(perSecond / first).toFixed(1)} of the first run`,
  });
  return [row(`import of ${IMPORTED}, first run`, first), row('second run, all stored', second)];
}

/** Measures on a separate embedded server, with fsync as in production. */
export async function runStoreBenchmark(): Promise<StoreBenchmarkRow[]> {
  const folder = await createTemporaryFolder('fullmatch-bench-');
  const store = await openStore(
    { poolSize: 10, dataDir: path.join(folder.path, 'data') },
    silentLogger,
  );
  try {
    const { database } = store;
    await database.query(
      sql(
        'bench table',
        `CREATE TABLE bench_rows (chain_id bigint, address bytea, PRIMARY KEY (chain_id, address))`,
      ),
    );
    return [
      await measureStores(database, 1, 1),
      await measureStores(database, 8, 1),
      await measureStores(database, 8, 50),
      ...(await measureImport(database, path.join(folder.path, 'tree'))),
    ];
  } finally {
    await store.close();
    await folder.remove();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.table(await runStoreBenchmark());
}
