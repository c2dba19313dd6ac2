// `fullmatch export`: the published tree and both documents, for any web server and for `fullmatch import`.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { bootService } from './support/booted-service.ts';
import { writeShowTree } from './support/show-tree.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

interface Summary {
  readonly written: number;
  readonly left: number;
  readonly files: number;
  readonly since?: string;
  readonly feedPosition: string;
}

/** Returns every file below a folder by its path. */
async function filesBelow(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pairs = files.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder, file), await readFile(file, 'utf8')] as const;
  });
  return new Map((await Promise.all(pairs)).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Everything except the export time. */
const withoutFacts = (files: ReadonlyMap<string, string>): object[] =>
  [...files].filter(([file]) => !['export.json', 'manifest.json'].includes(file));

describe('the exported tree', () => {
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let source: TestDatabase;
  const at = (name: string): string => path.join(folder.path, name);
  const fullmatch = (database: TestDatabase, ...args: readonly string[]): Promise<CliRun> =>
    runInProcess(args, {
      environment: { DATABASE_URL: database.url, FULLMATCH_REGISTRY_INCLUDE: 'configured' },
      workingDirectory: folder.path,
    });
  const exportTo = async (name: string, ...more: readonly string[]): Promise<Summary> => {
    const run = await fullmatch(source, 'export', name, '--json', ...more);
    expect(run.exitCode, run.stderr).toBe(0);
    return JSON.parse(run.stdout) as Summary;
  };

  beforeAll(async () => {
    [folder, source] = await Promise.all([createTemporaryFolder(), createTestDatabase()]);
    await writeShowTree(at('show'));
    expect(await fullmatch(source, 'import', 'show')).toMatchObject({ exitCode: 0 });
  });
  afterAll(async () => {
    await source.drop();
    await folder.remove();
  });

  test('contains what the service serves: both documents and every file', async () => {
    const summary = await exportTo('whole');
    expect(summary).toMatchObject({ written: 6, left: 0 });
    const files = await filesBelow(at('whole'));
    expect([...files.keys()].filter((name) => !name.startsWith('contracts/'))).toEqual([
      'chains.json',
      'export.json',
      'manifest.json',
      'stats.json',
    ]);
    const service = await bootService({
      databaseUrl: source.url,
      yaml: 'registry: { include: configured }\n',
    });
    try {
      const { apiUrl, repositoryUrl } = service;
      const text = async (url: string): Promise<string> => (await fetch(url)).text();
      expect(files.get('stats.json')).toBe(await text(`${repositoryUrl}/stats.json`));
      expect(files.get('chains.json')).toBe(await text(`${apiUrl}/chains`));
      const contracts = [...files].filter(([name]) => name.startsWith('contracts/'));
      expect(contracts).toHaveLength(summary.files);
      for (const [name, content] of contracts) {
        const url = `${repositoryUrl}/${name.split('/').map(encodeURIComponent).join('/')}`;
        expect(await text(url), name).toBe(content);
      }
    } finally {
      await service.close();
    }
  });

  test.each(['tree', 'tree.tar', 'tree.tar.gz'])(
    'produces the same counts and files where %s is imported',
    async (name) => {
      await exportTo(name);
      const target = await createTestDatabase();
      const imported = await fullmatch(target, 'import', name, '--json');
      expect(imported.exitCode, imported.stderr).toBe(0);
      expect(JSON.parse(imported.stdout)).toMatchObject({ totals: { stored: 6, refused: 0 } });
      const again = `again-${name.replaceAll('.', '-')}`;
      expect(await fullmatch(target, 'export', again)).toMatchObject({ exitCode: 0 });
      await exportTo(`first-${name.replaceAll('.', '-')}`);
      const [first, second] = [
        await filesBelow(at(`first-${name.replaceAll('.', '-')}`)),
        await filesBelow(at(again)),
      ];
      expect(withoutFacts(second)).toEqual(withoutFacts(first));
      await target.drop();
    },
  );

  test('continues in its folder and removes contracts that are no longer verified', async () => {
    const own = await createTestDatabase();
    const to = async (name: string): Promise<Summary> => {
      const run = await fullmatch(own, 'export', name, '--json');
      expect(run.exitCode, run.stderr).toBe(0);
      return JSON.parse(run.stdout) as Summary;
    };
    await saveMatch(own.database, sampleContract(3, sampleAddress(4), { runtimeMatch: 'full' }));
    await saveMatch(own.database, sampleContract(3, sampleAddress(5), { runtimeMatch: 'partial' }));
    expect(await to('growing')).toMatchObject({ written: 2 });
    expect(await to('growing')).toMatchObject({ written: 0, left: 0 });
    await saveMatch(own.database, sampleContract(3, sampleAddress(5), { runtimeMatch: 'full' }));
    const place = { chainId: 3, address: sampleAddress(4), reason: 'a test' };
    await withdrawMatch(own.database, place);
    expect(await to('growing')).toMatchObject({ written: 1, left: 1 });
    await to('fresh');
    const growing = await filesBelow(at('growing'));
    expect(withoutFacts(growing)).toEqual(withoutFacts(await filesBelow(at('fresh'))));
    expect([...growing.keys()].filter((name) => name.includes('partial_match'))).toEqual([]);
    await own.drop();
  });

  test('starts over after an interrupted export and refuses to continue that of another database', async () => {
    await exportTo('cut');
    const whole = await filesBelow(at('cut'));
    await writeFile(at('cut/export.json'), JSON.stringify({ feedPosition: '0', feedMark: null }));
    await mkdir(at('cut/contracts/full_match/5/left'), { recursive: true });
    await writeFile(at('cut/contracts/full_match/5/left/metadata.json'), '{}');
    expect(await exportTo('cut')).toMatchObject({ written: 6 });
    expect(withoutFacts(await filesBelow(at('cut')))).toEqual(withoutFacts(whole));

    const other = await createTestDatabase();
    await saveMatch(other.database, sampleContract(3, sampleAddress(5), { runtimeMatch: 'full' }));
    const refused = await fullmatch(other, 'export', 'cut', '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'export_of_another_database' });
    expect(withoutFacts(await filesBelow(at('cut')))).toEqual(withoutFacts(whole));
    expect(await fullmatch(other, 'export', 'cut', '--whole')).toMatchObject({ exitCode: 0 });
    expect((await filesBelow(at('cut'))).size).toBeLessThan(whole.size);
    await other.drop();
  });

  test('is rejected if the folder contains other files', async () => {
    await mkdir(at('taken'));
    await writeFile(at('taken/notes.txt'), 'mine');
    const refused = await fullmatch(source, 'export', 'taken', '--json');
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'export_path_unusable' });
    await cp(at('taken/notes.txt'), at('taken.tar'));
    const archive = await fullmatch(source, 'export', 'taken.tar', '--json');
    expect(JSON.parse(archive.stdout)).toMatchObject({ code: 'export_path_unusable' });
    expect(await readFile(at('taken.tar'), 'utf8')).toBe('mine');
    const zstd = await fullmatch(source, 'export', 'tree.tar.zst', '--json');
    expect(JSON.parse(zstd.stdout)).toMatchObject({ code: 'export_path_unusable' });
  });
});
