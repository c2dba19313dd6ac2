// Exports one chain and imports it again, in every format: the same counts, matches and files.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { sql } from '../src/store/database.ts';
import { loadSql } from './support/load-sql.ts';
import { roundTripContracts } from './support/round-trip-contracts.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import {
  createEmptyDatabase,
  createTestDatabase,
  type TestDatabase,
} from './support/test-database.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let source: TestDatabase;
const at = (...names: readonly string[]): string => path.join(folder.path, ...names);
const fullmatch = (database: TestDatabase, ...args: readonly string[]): Promise<CliRun> =>
  runInProcess(args, {
    environment: { DATABASE_URL: database.url, FULLMATCH_REGISTRY_INCLUDE: 'configured' },
    workingDirectory: folder.path,
  });
async function json(database: TestDatabase, ...args: readonly string[]): Promise<unknown> {
  const run = await fullmatch(database, ...args, '--json');
  expect(run.exitCode, run.stdout + run.stderr).toBe(0);
  return JSON.parse(run.stdout);
}
/** Returns every file below a folder by its path, except those that contain the export time. */
async function filesBelow(name: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(at(name), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !['export.json', 'manifest.json'].includes(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const pairs = files.map(
    async (file) => [path.relative(at(name), file), await readFile(file, 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}
const statisticsOf = async ({ database }: TestDatabase): Promise<string> =>
  renderStatistics(await readStatistics(database)).toString('utf8');

/** Loads a script into its own database. */
async function withLoaded<T>(
  file: string,
  work: (url: string, client: Awaited<ReturnType<typeof connectClient>>) => Promise<T>,
): Promise<T> {
  const peer = await createEmptyDatabase();
  const client = await connectClient(targetOfUrl(new Secret(peer.url), 'fullmatch test'));
  try {
    await loadSql(client, at(file));
    return await work(peer.url, client);
  } finally {
    await client.end();
    await peer.drop();
  }
}

beforeAll(async () => {
  [folder, source] = await Promise.all([createTemporaryFolder(), createTestDatabase()]);
  await saveMatches(source.database, await roundTripContracts());
  // Withdrawn contracts are not exported.
  await saveMatches(source.database, [
    sampleContract(1, sampleAddress(9), { runtimeMatch: 'full' }, { variant: 9 }),
  ]);
  await withdrawMatch(source.database, {
    ...{ chainId: 1, address: sampleAddress(9), reason: 'a test' },
  });
  await json(source, 'export', 'tree', '--chain', '1');
});
afterAll(async () => {
  await source.drop();
  await folder.remove();
});

describe('one exported chain, imported into an empty instance, keeps stats.json, sources and matches', () => {
  async function expectSame(name: string, ...from: readonly string[]): Promise<void> {
    const target = await createTestDatabase();
    try {
      expect(await json(target, 'import', ...from)).toMatchObject({
        totals: { stored: 6, refused: 0 },
      });
      const before = await filesBelow('tree');
      expect(await statisticsOf(target)).toBe(before['stats.json']);
      await json(target, 'export', `${name}-again`, '--chain', '1');
      expect(await filesBelow(`${name}-again`)).toEqual(before);
    } finally {
      await target.drop();
    }
  }

  test('as a tree', async () => {
    const files = await filesBelow('tree');
    expect(JSON.parse(files['stats.json']!)).toEqual({ 1: { full_match: 3, partial_match: 3 } });
    expect(Object.keys(files).filter((name) => name.endsWith('compilation.json'))).toHaveLength(2);
    for (const name of ['constructor-args.txt', 'library-map.json', 'immutable-references.json']) {
      expect(Object.keys(files).some((file) => file.endsWith(`/${name}`))).toBe(true);
    }
    await expectSame('tree', 'tree');
  });

  test('as a tree in layout V2', async () => {
    await json(source, 'export', 'tree-v2', '--layout', 'v2', '--chain', '1');
    const files = Object.keys(await filesBelow('tree-v2'));
    const sources = files.filter((name) => name.includes('/sources/'));
    expect(sources.length).toBeGreaterThan(5);
    for (const name of sources) expect(name).toMatch(/\/sources\/0x[0-9a-f]{64}$/);
    expect(files.filter((name) => name.endsWith('path-translation.json'))).toEqual([]);
    await expectSame('tree-v2', 'tree-v2');
    const other = await fullmatch(source, 'export', 'tree-v2', '--chain', '1', '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({ code: 'export_path_unusable' });
  });

  test('as Parquet', async () => {
    await json(source, 'export', 'parquet', '--format', 'parquet', '--chain', '1');
    await expectSame('parquet', 'parquet');
  });

  test('as Parquet, continued after a withdrawal and an upgrade', async () => {
    const own = await createTestDatabase();
    const contracts = await roundTripContracts();
    const [first, second] = contracts;
    await saveMatches(own.database, [
      { ...first!, runtimeMatch: 'partial', creationMatch: null },
      sampleContract(1, sampleAddress(9), { runtimeMatch: 'full' }, { variant: 9 }),
      second!,
    ]);
    await json(own, 'export', 'growing', '--format', 'parquet', '--chain', '1');
    await saveMatches(own.database, contracts);
    await withdrawMatch(own.database, {
      ...{ chainId: 1, address: sampleAddress(9), reason: 'a test' },
    });
    await json(own, 'export', 'growing', '--format', 'parquet', '--chain', '1');
    await own.drop();
    await expectSame('growing', 'growing');
  });

  test.each([
    ['of the Verifier Alliance', 'alliance.sql', []],
    ['of the Verifier Alliance, zipped', 'alliance.sql.gz', []],
    ['with those of Sourcify', 'sourcify.sql', ['--with-sourcify']],
  ])('as SQL with the tables %s', async (_, file, more) => {
    await json(source, 'export', file, '--format', 'sql', '--chain', '1', ...more);
    await withLoaded(file, (url) => expectSame(file.replaceAll('.', '-'), '--from', url));
  });
});

describe('an SQL export', () => {
  test('keeps times and enforces the constraints of the Verifier Alliance on later rows', async () => {
    await json(source, 'export', 'strict.sql', '--format', 'sql', '--with-sourcify');
    await withLoaded('strict.sql', async (_, client) => {
      const times =
        'SELECT id::int AS id, created_at::text AS at, created_by AS by FROM verified_contracts ORDER BY id';
      const stored = await source.database.query<{ id: number }>(sql('test times', times));
      const loaded = (await client.query<{ id: number }>(times)).rows;
      const ids = new Set(loaded.map(({ id }) => id));
      expect(loaded).toEqual(stored.filter(({ id }) => ids.has(id)));
      expect(loaded).toHaveLength(7);
      const { rows } = await client.query(
        `SELECT code, code_hash_keccak FROM code WHERE code_hash = '\\x'`,
      );
      expect(rows).toEqual([{ code: null, code_hash_keccak: Buffer.alloc(0) }]);
      const bad = [
        // The second element of a list is checked too.
        `UPDATE verified_contracts SET runtime_transformations = runtime_transformations || '[{"type": "insert", "reason": "library", "offset": 1, "id": "x"}]'`,
        `UPDATE verified_contracts SET creation_values = NULL WHERE creation_match`,
        `UPDATE verified_contracts SET runtime_values = '{"immutables": {"1": "42"}}'`,
        `UPDATE compiled_contracts SET compilation_artifacts = compilation_artifacts - 'abi'`,
        `UPDATE compiled_contracts SET runtime_code_artifacts = '{}'`,
        `UPDATE code SET code = '\\x00'`,
        `UPDATE sources SET content = 'other'`,
      ];
      for (const statement of bad) {
        await expect(client.query(statement), statement).rejects.toMatchObject({ code: '23514' });
      }
      await client.query(`UPDATE contracts SET created_at = 'epoch', created_by = 'me'`);
      const { rows: kept } = await client.query(
        `SELECT FROM contracts WHERE created_by = 'me' OR updated_at < now() - interval '1 hour'`,
      );
      expect(kept).toEqual([]);
    });
  });

  test('does not overwrite a file unless forced', async () => {
    await writeFile(at('mine.sql'), 'mine');
    const refused = await fullmatch(source, 'export', 'mine.sql', '--format', 'sql', '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'export_path_unusable' });
    expect(await readFile(at('mine.sql'), 'utf8')).toBe('mine');
    await json(source, 'export', 'mine.sql', '--format', 'sql', '--whole');
    const nowhere = await fullmatch(source, 'export', 'no/x.sql', '--format', 'sql', '--json');
    expect(JSON.parse(nowhere.stdout)).toMatchObject({ code: 'export_path_unusable' });
  });
});

describe('a Parquet export that contradicts its manifest is rejected by name, and nothing is stored', () => {
  const CODE = 'v2/code/code_0_';
  type Manifest = {
    files: { path: string; rows: number; sha256: string }[];
    tables: Record<string, { rows: number }>;
  };
  const DAMAGES: Readonly<Record<string, (manifest: Manifest, name: string) => unknown>> = {
    'a file is swapped for another': (manifest, name) =>
      cp(
        at(name, manifest.files.find(({ path: file }) => file.includes('/sources/'))!.path),
        at(name, manifest.files.find(({ path: file }) => file.startsWith(CODE))!.path),
      ),
    'a file is missing': (manifest, name) =>
      rm(at(name, manifest.files.find(({ path: file }) => file.startsWith(CODE))!.path)),
    'a file has a wrong row count': (manifest) =>
      (manifest.files.find(({ path: file }) => file.startsWith(CODE))!.rows += 1),
    'a hash is wrong': (manifest) =>
      (manifest.files.find(({ path: file }) => file.startsWith(CODE))!.sha256 = '0'.repeat(64)),
    'a table has a wrong row count': (manifest) => (manifest.tables['code']!.rows += 1),
    'a path leaves the export': (manifest) => (manifest.files[0]!.path = '../../etc/passwd'),
    'the manifest is invalid': (manifest) => (manifest.files = [] as never),
  };

  test.each(Object.keys(DAMAGES))('%s', async (damage) => {
    const name = damage.replaceAll(' ', '-');
    await json(source, 'export', name, '--format', 'parquet');
    const file = at(name, 'manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
    await DAMAGES[damage]!(manifest, name);
    await writeFile(file, JSON.stringify(manifest));
    const target = await createTestDatabase();
    const run = await fullmatch(target, 'import', name, '--json');
    const error = JSON.parse(run.stdout) as { code: string; path: string };
    expect(error.code).toBe('import_path_unusable');
    expect(error.path).toMatch(
      damage.startsWith('a file') || damage.includes('hash')
        ? /code_0_\d+\.parquet$/
        : /manifest\.json$/,
    );
    expect(await statisticsOf(target)).toBe('{}');
    await target.drop();
  });

  test('unfinished', async () => {
    await json(source, 'export', 'cut', '--format', 'parquet');
    await cp(at('cut', 'manifest.json'), at('cut', 'manifest.partial.json'));
    await rm(at('cut', 'manifest.json'));
    const target = await createTestDatabase();
    const run = await fullmatch(target, 'import', 'cut', '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({
      ...{ code: 'import_path_unusable', path: at('cut', 'manifest.partial.json') },
    });
    await target.drop();
  });
});
