/**
 * Ten thousand to ten million contracts through the real import: `npm run bench:scale [-- contracts …]`.
 * Figures are compared with plain SQL on the same server in the same run: COPY of the same rows, INSERT, a
 * count, a look-up.
 */
import { statfs } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { readEmbeddedList } from '../src/chains/list/chain-list.ts';
import { importRepository } from '../src/importer/import-repository.ts';
import { findParquet, stageParquet } from '../src/importer/stage-parquet.ts';
import { silentLogger } from '../src/log.ts';
import { openPublication } from '../src/publication/publication.ts';
import { advanceFeed } from '../test/support/advance-feed.ts';
import { listContracts } from '../src/repository/lists/list-contracts.ts';
import { listNewestContracts } from '../src/repository/lists/list-newest-contracts.ts';
import {
  searchByAddress,
  searchByHash,
  searchByName,
} from '../src/repository/lists/search-contracts.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { sql, type Database } from '../src/store/database.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { sampleAddress, sampleContract } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { countOf, measureCopy, timed, whole } from './copied-rows.ts';
import { median } from './median.ts';
import { scaleAddress, scaleName, writeScaleExport } from './scale-export.ts';

const SIZES = [10_000, 100_000, 1_000_000];
/** With `--ten-million`, which requires 100 GB of free space. */
const LARGEST = 10_000_000;
const ROUNDS = 15;
const POLL_MS = 600_000;
const FREE_BYTES_OF_A_CONTRACT = 12_000;
const limit = 50;

type Cells = Readonly<Record<string, string>>;
const perSecond = (count: number, ms: number): number => (count * 1000) / ms;

async function medianOf(
  work: (round: number) => Promise<unknown>,
  rounds = ROUNDS,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await timed(() => work(round)));
  return median(times);
}

async function importExport(
  store: Store,
  folder: string,
): Promise<{ readonly stagedMs: number; readonly ms: number; readonly stored: number }> {
  const tables = await findParquet(folder);
  if (tables === undefined) throw new Error('the export was not written');
  const { database } = store;
  return database.session(async (session) => {
    const { signal } = new AbortController();
    const start = performance.now();
    await stageParquet(session, tables, {
      ...{ signal, isTemporary: true, onProgress: () => undefined },
      requireSpace: () => Promise.resolve(),
    });
    const stagedMs = performance.now() - start;
    const from = { database: session, isRewritten: true };
    const { totals, refused } = await importRepository({
      path: folder,
      from,
      database,
      dryRun: false,
      log: silentLogger,
    });
    if (totals.refused > 0) throw new Error(`refused: ${JSON.stringify(refused[0])}`);
    return { stagedMs, ms: performance.now() - start, stored: totals.stored };
  });
}

const LISTS: Readonly<Record<string, (database: Database, contracts: number) => Promise<unknown>>> =
  {
    'newest, first page': (db) => listNewestContracts(db, { limit }),
    'newest, deep page': (db, n) =>
      listNewestContracts(db, { limit, after: `${Math.floor(n / 2)}` }),
    'newest, filters without a hit': (db) =>
      listNewestContracts(db, { limit, chainId: 8453, match: 'full', origin: 'monitored' }),
    'of a chain, first page': (db) => listContracts(db, 1, { order: 'descending', limit }),
    'by address, one': (db) =>
      searchByAddress(db, scaleAddress(7).toString('hex').slice(0, 12), { limit }),
    'by address, no hit': (db) => searchByAddress(db, 'ffffffffffff', { limit }),
    'by name, one': (db) => searchByName(db, scaleName(77).toLowerCase(), { limit }),
    'by name, all': (db) => searchByName(db, 'token', { limit }),
    'by name, no hit': (db) => searchByName(db, 'zzz', { limit }),
    'by hash, no hit': (db) => searchByHash(db, `0x${'ab'.repeat(32)}`, { limit }),
  };

async function measureVisible(database: Database): Promise<number> {
  const list = await readEmbeddedList();
  const publication = await openPublication(
    {
      list,
      options: { include: 'configured', defaults: false, localChains: false },
      configured: new Map(),
      secrets: [],
    },
    database,
    silentLogger,
    {
      served: { brotliDelayMs: POLL_MS, events: { maxClients: 1, connectionsPerClient: 1 } },
      pollMs: POLL_MS,
    },
  );
  const shown = (): string | undefined =>
    publication.served?.documents.current.statistics?.bodies.identity.toString();
  try {
    return await medianOf(async (round) => {
      const before = shown();
      await saveMatch(
        database,
        sampleContract(1, sampleAddress(5_000 + round), { runtimeMatch: 'full' }, { variant: 3 }),
      );
      while (shown() === before) await new Promise((resolve) => setTimeout(resolve, 1));
    });
  } finally {
    await publication.close();
  }
}

async function measure(contracts: number): Promise<Cells> {
  const folder = await createTemporaryFolder('fullmatch-scale-');
  const store = await openStore(
    { poolSize: 10, dataDir: path.join(folder.path, 'data') },
    silentLogger,
  );
  try {
    const { database } = store;
    const { bavail, bsize } = await statfs(folder.path);
    if (bavail * bsize < contracts * FREE_BYTES_OF_A_CONTRACT) throw new Error('too little space');
    const tables = path.join(folder.path, 'v2');
    await writeScaleExport(tables, contracts);
    const imported = await importExport(store, tables);
    await database.query(sql('bench: analyze', 'VACUUM ANALYZE'));
    const rss = process.memoryUsage.rss();
    const copy = await measureCopy(store);
    const followMs = await timed(() => advanceFeed(database));
    await database.query(sql('bench: analyze again', 'VACUUM ANALYZE'));
    const size = sql('bench: size', 'SELECT pg_database_size(current_database())::float8 AS bytes');
    const [sized] = await database.query<{ bytes: number }>(size);
    const recountMs = await timed(() => recount(database, { repair: false }));
    await database.query(
      sql(
        'bench: plain table',
        'CREATE TABLE bench_rows (chain_id bigint, address bytea, PRIMARY KEY (chain_id, address))',
      ),
    );
    const insert = sql('bench: plain insert', 'INSERT INTO bench_rows VALUES ($1, $2)');
    const byKey = sql('bench: by key', 'SELECT * FROM verified_contracts WHERE id = 4711');
    const cells: Record<string, string> = {
      'import, contracts a second': whole(perSecond(imported.stored, imported.ms)),
      '– of it reading and staging the files, s': (imported.stagedMs / 1000).toFixed(1),
      'COPY of the written rows into bare tables, contracts a second': whole(
        perSecond(contracts, copy.bare),
      ),
      'COPY into tables with the same indexes, contracts a second': whole(
        perSecond(contracts, copy.indexed),
      ),
      'import as a share of COPY into the same indexes': (copy.indexed / imported.ms).toFixed(2),
      'bytes a contract': whole((sized?.bytes ?? 0) / contracts),
      'memory of the importing process, MB': whole(rss / 2 ** 20),
      'following the feed, events a second': whole(perSecond(contracts, followMs)),
      'recount, contracts a second': whole(perSecond(contracts, recountMs)),
      'count(*) of the matches, ms': (
        await medianOf(() => countOf(database, 'current_matches'), 3)
      ).toFixed(1),
      'one store, ms': (
        await medianOf((round) =>
          saveMatch(
            database,
            sampleContract(
              1,
              sampleAddress(1_000 + round),
              { runtimeMatch: 'full' },
              { variant: 2 },
            ),
          ),
        )
      ).toFixed(2),
      'one plain INSERT, ms': (
        await medianOf((round) => database.query(insert, [1, scaleAddress(-5 - round)]))
      ).toFixed(2),
      'commit to visible in stats.json, with the store, ms': (
        await measureVisible(database)
      ).toFixed(1),
      'reading and rendering stats.json, ms': (
        await medianOf(async () => renderStatistics(await readStatistics(database)))
      ).toFixed(2),
      'SELECT by primary key, ms': (await medianOf(() => database.query(byKey))).toFixed(2),
    };
    for (const [what, list] of Object.entries(LISTS)) {
      cells[`${what}, ms`] = (await medianOf(() => list(database, contracts))).toFixed(2);
    }
    return cells;
  } finally {
    await store.close();
    await folder.remove();
  }
}

const load = (): string =>
  loadavg()
    .map((each) => each.toFixed(0))
    .join(' ');
const given = process.argv
  .slice(2)
  .map(Number)
  .filter((size) => size > 0);
const sizes = [
  ...(given.length > 0 ? given : SIZES),
  ...(process.argv.includes('--ten-million') ? [LARGEST] : []),
];
console.log(`${new Date().toISOString()}, load ${load()}`);
const results = new Map<number, Cells>();
for (const contracts of sizes) {
  results.set(contracts, await measure(contracts));
  console.log(`${contracts}: done at ${new Date().toISOString()}, load ${load()}`);
}
const whats = Object.keys(results.get(sizes[0] ?? 0) ?? {});
console.table(
  Object.fromEntries(
    whats.map((what) => [
      what,
      Object.fromEntries(sizes.map((size) => [whole(size), results.get(size)?.[what] ?? ''])),
    ]),
  ),
);
