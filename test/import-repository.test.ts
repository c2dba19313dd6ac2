// Imports of whole trees into a real database.
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importRepository, type ImportOptions } from '../src/importer/import-repository.ts';
import { type ImportSummary } from '../src/importer/import-tally.ts';
import { type RefusalReason, type RefusedEntry } from '../src/importer/refusal.ts';
import { FullmatchError } from '../src/errors.ts';
import { silentLogger } from '../src/log.ts';
import { readCurrentMatches } from '../src/repository/matches/read-current-matches.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { sql } from '../src/store/database.ts';
import { BAD_KINDS, type BadEntryKind, writeBadEntry } from './support/bad-entries.ts';
import {
  contractFolder,
  exampleAddress,
  manyContracts,
  writeExampleTree,
} from './support/example-tree.ts';
import { sampleContract } from './support/sample-contracts.ts';
import { writeShowTree } from './support/show-tree.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const COUNT_EVIDENCE = sql(
  'test: count evidence',
  `SELECT ((SELECT count(*) FROM sources) + (SELECT count(*) FROM compiled_contracts)
     + (SELECT count(*) FROM current_matches))::int AS rows`,
);
const COUNT_EVENTS = sql('test: count events', 'SELECT count(*) AS count FROM match_events');

let folder: string;
let store: TestDatabase;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmatch-import-'));
  store = await createTestDatabase();
});
afterEach(async () => {
  await store.drop();
  await rm(folder, { recursive: true, force: true });
});

function run(options: Partial<ImportOptions> = {}): Promise<ImportSummary> {
  return importRepository({
    path: folder,
    database: store.database,
    dryRun: false,
    log: silentLogger,
    ...options,
  });
}

const statistics = async (): Promise<unknown> =>
  JSON.parse(renderStatistics(await readStatistics(store.database)).toString('utf8'));

async function countEvents(): Promise<number> {
  const [row] = await store.database.query<{ count: string }>(COUNT_EVENTS);
  return Number(row?.count);
}

const reasons = (
  refused: readonly { readonly path: string; readonly reason: RefusalReason }[],
): object[] =>
  refused
    .map(({ path, reason }) => ({ path, reason }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));

describe.each(['v1', 'v2'] as const)('a tree in layout %s', (layout) => {
  test('imports exact statistics and rejects each bad entry with its reason', async () => {
    const { counts, refused } = await writeShowTree(folder, layout);
    const summary = await run();
    expect(await statistics()).toEqual(counts);
    expect(reasons(summary.refused)).toEqual(reasons(refused));
    expect(summary.totals).toEqual({
      stored: 6,
      upgraded: 0,
      unchanged: 1,
      kept: 0,
      refused: refused.length,
    });
    expect((await recount(store.database, { repair: false })).differences).toEqual([]);
  });
});

describe('a second run', () => {
  test('changes nothing and skips contracts already stored', async () => {
    const { counts, refused } = await writeShowTree(folder);
    await run();
    const events = await countEvents();
    // A second run does not read these files, so it does not miss them.
    for (const file of ['full_match', 'partial_match'].map((name) =>
      join(folder, 'contracts', name, '1'),
    )) {
      for (const address of await readdir(file)) await rm(join(file, address, 'metadata.json'));
    }
    const second = await run();
    expect(second.totals).toEqual({
      stored: 0,
      upgraded: 0,
      unchanged: 7,
      kept: 0,
      refused: refused.length,
    });
    expect(await statistics()).toEqual(counts);
    expect(await countEvents()).toBe(events);
  });

  test('stores added contracts and upgrades partial matches to full', async () => {
    const address = exampleAddress(1);
    await writeExampleTree(folder, {
      layout: 'v1',
      contracts: [{ chainId: 1, match: 'partial', address }],
    });
    await run();
    await writeExampleTree(folder, {
      layout: 'v1',
      contracts: [
        { chainId: 1, match: 'full', address },
        { chainId: 1, match: 'full', address: exampleAddress(2) },
      ],
    });
    expect((await run()).totals).toEqual({
      stored: 1,
      upgraded: 1,
      unchanged: 1,
      kept: 0,
      refused: 0,
    });
    expect(await statistics()).toEqual({ 1: { full_match: 2, partial_match: 0 } });
  });
});

describe('a contract verified by this service', () => {
  const address = exampleAddress(1);
  const tree = (match: 'full' | 'partial', layout: 'v1' | 'v2' = 'v2') =>
    writeExampleTree(folder, { layout, contracts: [{ chainId: 1, match, address }] });

  test('keeps its partial match whatever a tree claims, and the report says so', async () => {
    for (const [number, origin] of (['verified', 'monitored'] as const).entries()) {
      const own = exampleAddress(10 + number);
      await saveMatch(store.database, {
        ...sampleContract(1, own, { runtimeMatch: 'partial' }),
        origin,
      });
      await writeExampleTree(folder, {
        layout: 'v2',
        contracts: [{ chainId: 1, match: 'full', address: own }],
      });
    }
    // An imported partial match with an alternative text that was verified here.
    const beside = exampleAddress(12);
    for (const [variant, origin] of (['imported', 'verified'] as const).entries()) {
      const sample = sampleContract(1, beside, { runtimeMatch: 'partial' }, { variant });
      await saveMatch(store.database, { ...sample, origin });
    }
    await writeExampleTree(folder, {
      layout: 'v2',
      contracts: [{ chainId: 1, match: 'full', address: beside }],
    });
    const events = await countEvents();
    const dry = await run({ dryRun: true });
    const { totals } = await run();
    expect(totals).toEqual({ stored: 0, upgraded: 0, unchanged: 0, kept: 3, refused: 0 });
    expect(dry.totals).toEqual(totals);
    expect(await countEvents()).toBe(events);
    expect(await statistics()).toEqual({ 1: { full_match: 0, partial_match: 3 } });
  });

  test('keeps its match when the tree was read before the verification', async () => {
    await tree('full');
    await run({
      requireSpace: async () => {
        const contract = sampleContract(1, address, { runtimeMatch: 'partial' });
        await saveMatch(store.database, { ...contract, origin: 'verified' });
      },
    });
    expect(await statistics()).toEqual({ 1: { full_match: 0, partial_match: 1 } });
  });

  test('shows the earlier import if that is better', async () => {
    await tree('full');
    await run();
    const contract = sampleContract(1, address, { runtimeMatch: 'partial' });
    await saveMatch(store.database, { ...contract, origin: 'verified' });
    expect(await statistics()).toEqual({ 1: { full_match: 1, partial_match: 0 } });
  });
});

test('rejects a contract whose metadata lists more sources than a submission may have', async () => {
  const [written] = await writeExampleTree(folder, {
    layout: 'v2',
    contracts: [{ chainId: 1, match: 'full' }],
  });
  const file = join(written!.folder, 'metadata.json');
  const metadata = JSON.parse(await readFile(file, 'utf8')) as { sources: Record<string, object> };
  const [[, source] = []] = Object.entries(metadata.sources);
  const count = Object.keys(metadata.sources).length;
  const addSources = (total: number) =>
    Object.fromEntries(
      Array.from({ length: total - count }, (_each, at) => [`a${at}.sol`, source]),
    );
  const write = (total: number) =>
    writeFile(
      file,
      JSON.stringify({ ...metadata, sources: { ...metadata.sources, ...addSources(total) } }),
    );
  await write(2001);
  const [refused] = (await run()).refused;
  expect(refused?.reason).toBe('too_many_files');
  expect(refused?.detail).toContain('2001 sources');
  await write(2000);
  expect((await run()).totals).toMatchObject({ stored: 1, refused: 0 });
});

describe('a dry run', () => {
  test('reports what a run would do and stores nothing', async () => {
    const { refused } = await writeShowTree(folder);
    const dry = await run({ dryRun: true });
    expect(await statistics()).toEqual({});
    expect(await countEvents()).toBe(0);
    expect(await store.database.query(COUNT_EVIDENCE)).toEqual([{ rows: 0 }]);
    const { chains, totals, dryRun } = await run();
    expect({ chains: dry.chains, totals: dry.totals }).toEqual({ chains, totals });
    expect([dry.dryRun, dryRun, dry.refused.length]).toEqual([true, false, refused.length]);
  });

  test('also validates contracts already stored', async () => {
    const [written] = await writeExampleTree(folder, {
      layout: 'v2',
      contracts: [{ chainId: 1, match: 'full' }],
    });
    await run();
    await rm(join(written!.folder, 'metadata.json'));
    expect((await run()).totals).toMatchObject({ unchanged: 1, refused: 0 });
    expect((await run({ dryRun: true })).totals).toMatchObject({ unchanged: 0, refused: 1 });
  });

  test('counts the partial match of an address whose full match is invalid', async () => {
    const address = exampleAddress(1);
    const contracts = (['full', 'partial'] as const).map((match) => ({
      chainId: 1,
      match,
      address,
    }));
    const [full] = await writeExampleTree(folder, { layout: 'v2', contracts });
    await rm(join(full!.folder, 'metadata.json'));
    const dry = await run({ dryRun: true });
    const { totals } = await run();
    expect(dry.totals).toEqual({ stored: 1, upgraded: 0, unchanged: 0, kept: 0, refused: 1 });
    expect(totals).toEqual(dry.totals);
  });
});

describe('bad entries', () => {
  test('of every kind are rejected with their reason, and every valid contract is stored', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: manyContracts(30) });
    const bad: { path: string; reason: RefusalReason }[] = [];
    for (const kind of Object.keys(BAD_KINDS) as BadEntryKind[]) {
      bad.push(await writeBadEntry(folder, kind));
    }
    const { refused, totals, refusedByReason } = await run({ batchSize: 7 });
    expect(reasons(refused)).toEqual(reasons(bad));
    expect(totals).toEqual({ stored: 30, upgraded: 0, unchanged: 0, kept: 0, refused: bad.length });
    const counted = Object.values(refusedByReason).reduce((sum, count) => sum + count, 0);
    expect(counted).toBe(bad.length);
    expect(await countEvents()).toBe(30);
  });

  test('in two spellings: prefers the checksummed address, then lower case, then upper case', async () => {
    const contracts = [{ chainId: 1, match: 'full' as const }];
    const [written] = await writeExampleTree(folder, { layout: 'v1', contracts });
    const { address, folder: checksummed } = written!;
    const place = { match: 'full', chainId: 1 } as const;
    const lower = contractFolder(folder, { ...place, address });
    const upper = contractFolder(folder, {
      ...place,
      address: `0x${address.slice(2).toUpperCase()}`,
    });
    await mkdir(lower);
    await mkdir(upper);
    const first = await run();
    expect(first.totals).toEqual({ stored: 1, upgraded: 0, unchanged: 0, kept: 0, refused: 2 });
    expect(first.refusedByReason).toEqual({ address_spelled_twice: 2 });
    await rm(lower, { recursive: true });
    await rename(checksummed, lower);
    expect((await run()).totals).toEqual({
      stored: 0,
      upgraded: 0,
      unchanged: 1,
      kept: 0,
      refused: 1,
    });
  });

  test('are displayed with unprintable characters escaped', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: [{ chainId: 1, match: 'full' }] });
    await mkdir(join(folder, 'contracts', 'full_match', '\u001b[2J\u202e1'));
    const { refused } = await run();
    expect(refused.map(({ path }) => path)).toEqual(['full_match/\\u{1b}[2J\\u{202e}1']);
    expect(JSON.stringify(refused)).not.toMatch(/\\u001b|\u202e/);
  });

  test('include symbolic links at every level above a contract', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: [{ chainId: 1, match: 'full' }] });
    const tree = join(folder, 'contracts');
    await rename(join(tree, 'full_match', '1'), join(folder, 'chain'));
    await symlink(join(folder, 'chain'), join(tree, 'full_match', '1'));
    await symlink(join(tree, 'full_match'), join(tree, 'partial_match'));
    const { refused, totals } = await run();
    expect(reasons(refused)).toEqual([
      { path: 'full_match/1', reason: 'symlink' },
      { path: 'partial_match', reason: 'symlink' },
    ]);
    expect(totals.stored).toBe(0);
  });

  test('do not include stray files among the folders, which are counted and left alone', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: [{ chainId: 1, match: 'full' }] });
    await writeFile(join(folder, 'contracts', 'full_match', '.DS_Store'), '');
    await writeFile(join(folder, 'contracts', 'full_match', '1', 'README.txt'), '');
    await writeFile(join(folder, 'contracts', 'stats.json'), '{}');
    const { totals, foreignFiles } = await run();
    expect({ ...totals, foreignFiles }).toMatchObject({ stored: 1, refused: 0, foreignFiles: 2 });
  });

  test('that only the database detects are found in their batch and rejected individually', async () => {
    const written = await writeExampleTree(folder, { layout: 'v2', contracts: manyContracts(9) });
    // jsonb accepts neither U+0000 nor nesting beyond the server's stack; JSON.stringify has a limit too.
    const hostile = ['"\\u0000"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`];
    for (const [index, value] of hostile.entries()) {
      const { template, folder: path } = written[index * 4]!;
      const document = JSON.parse(template.metadata) as { output: Record<string, unknown> };
      document.output['userdoc'] = 'HOSTILE';
      const metadata = JSON.stringify(document).replace('"HOSTILE"', value);
      await writeFile(join(path, 'metadata.json'), metadata);
    }
    for (const dryRun of [true, false]) {
      const { totals, refusedByReason } = await run({ dryRun });
      expect(refusedByReason).toEqual({ not_storable: 2 });
      expect(totals).toMatchObject({ stored: 7, refused: 2 });
    }
  });
});

describe('the import path', () => {
  test('may be the contracts folder itself or a symbolic link named by the operator', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: [{ chainId: 1, match: 'full' }] });
    await symlink(folder, `${folder}-link`);
    try {
      expect((await run({ path: join(folder, 'contracts') })).totals.stored).toBe(1);
      expect((await run({ path: `${folder}-link` })).totals.unchanged).toBe(1);
    } finally {
      await rm(`${folder}-link`);
    }
  });

  test('is invalid if it is missing, a file, or contains no tree', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await symlink('/', join(folder, 'contracts'));
    for (const path of [join(folder, 'nowhere'), file, folder]) {
      await expect(run({ path })).rejects.toMatchObject({ code: 'import_path_unusable' });
    }
  });
});

/** Wraps the database to run something around each batch transaction. */
function withTransactions(
  around: <T>(run: () => Promise<T>) => Promise<T>,
): ImportOptions['database'] {
  const { database } = store;
  return {
    ...database,
    query: (statement, values) => database.query(statement, values),
    session: (work) =>
      database.session((session) =>
        work({ ...session, transaction: (inside) => around(() => session.transaction(inside)) }),
      ),
  };
}

describe('an interrupted run', () => {
  test('keeps complete batches and says so; another run completes it', async () => {
    const count = 60;
    await writeExampleTree(folder, { layout: 'v2', contracts: manyContracts(count) });
    const controller = new AbortController();
    let batches = 0;
    const database = withTransactions(async (run) => {
      const result = await run();
      if ((batches += 1) === 2) controller.abort();
      return result;
    });
    const { interrupted, totals } = await run({
      database,
      signal: controller.signal,
      batchSize: 10,
    });
    expect(interrupted).toBe(true);
    expect(totals.stored).toBe(20);
    expect(await countEvents()).toBe(20);
    const second = await run();
    expect(second.interrupted).toBe(false);
    expect(second.totals).toEqual({
      stored: count - 20,
      upgraded: 0,
      unchanged: 20,
      kept: 0,
      refused: 0,
    });
  });

  test('does nothing if interrupted before it began', async () => {
    await writeExampleTree(folder, { layout: 'v2', contracts: manyContracts(3) });
    const { interrupted, totals } = await run({ signal: AbortSignal.abort() });
    expect([interrupted, totals.stored]).toEqual([true, 0]);
  });
});

describe('a lost database connection', () => {
  test('ends the run with its error code and keeps what was acknowledged', async () => {
    await writeExampleTree(folder, { layout: 'v2', contracts: manyContracts(40) });
    let batches = 0;
    const database = withTransactions((run) => {
      if ((batches += 1) === 3) throw new FullmatchError('database_unreachable', 'gone');
      return run();
    });
    await expect(run({ database, batchSize: 10 })).rejects.toMatchObject({
      code: 'database_unreachable',
    });
    expect(await countEvents()).toBe(20);
    expect((await recount(store.database, { repair: false })).differences).toEqual([]);
  });
});

describe('progress', () => {
  test('ends with every entry done and reports each rejected entry as it occurs', async () => {
    await writeExampleTree(folder, { layout: 'v1', contracts: manyContracts(20) });
    await writeBadEntry(folder, 'changed_source');
    const seen: number[] = [];
    const refused: RefusedEntry[] = [];
    const summary = await run({
      onProgress: ({ done }) => void seen.push(done),
      onRefused: (entry) => void refused.push(entry),
    });
    expect(seen.at(-1)).toBe(21);
    expect(seen).toEqual([...seen].sort((left, right) => left - right));
    expect(refused).toEqual(summary.refused);
    expect(refused[0]?.chainId).toBe(424242);
  });
});

test('counts an address in both trees once, as full, in either order', async () => {
  const address = exampleAddress(7);
  const contracts = (['partial', 'full'] as const).map((match) => ({ chainId: 5, match, address }));
  await writeExampleTree(folder, { layout: 'v1', contracts });
  await run();
  expect(await statistics()).toEqual({ 5: { full_match: 1, partial_match: 0 } });
  expect(await readCurrentMatches(store.database, [{ chainId: 5, address }])).toEqual([
    { match: 'full', origin: 'imported', trust: 'claimed', hasJudgedTexts: false },
  ]);
});
