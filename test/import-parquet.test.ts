// `fullmatch import` of a Parquet export, version 2, with the changes that its writer makes to the rows.
import { randomBytes, randomUUID } from 'node:crypto';
import { rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { beforeEach, describe, expect, test } from 'vitest';
import { FullmatchError } from '../src/errors.ts';
import { stageParquet } from '../src/importer/stage-parquet.ts';
import { type StagingProgress } from '../src/importer/staging-progress.ts';
import { ADVISORY_LOCKS } from '../src/store/advisory-locks.ts';
import { sql } from '../src/store/database.ts';
import { filesOf, FILE_SECTIONS, parseSections, readRecord } from '../src/repository/repository.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { CONTENT } from './support/alliance-database.ts';
import { writeParquet } from './support/parquet-export.ts';
import { useAllianceImport } from './support/alliance-import.ts';
import { sampleAddress } from './support/sample-contracts.ts';

const given = useAllianceImport();
const { fullmatch } = given;
beforeEach(async () => {
  await given.peer.addRow({ address: sampleAddress(1) });
  await given.peer.addRow({ address: sampleAddress(2), chainId: 10, runtime: 'partial' });
});

const at = (...names: readonly string[]): string => path.join(given.folder, ...names);
async function load(name: string): Promise<{ totals: object; refused: object[] }> {
  const run = await fullmatch('import', name, '--json');
  expect(run.exitCode, run.stdout + run.stderr).toBe(0);
  return JSON.parse(run.stdout) as never;
}
const statistics = async (): Promise<unknown> =>
  JSON.parse(renderStatistics(await readStatistics(given.store.database)).toString('utf8'));
const BOTH = { 1: { full_match: 1, partial_match: 0 }, 10: { full_match: 0, partial_match: 1 } };

describe('a Parquet export', () => {
  test.each(['ZSTD', 'SNAPPY'] as const)(
    'of %s yields matches, sources and byte-identical metadata although it was re-encoded',
    async (codec) => {
      await writeParquet(given.peer.client, at(codec, 'v2'), { codec });
      expect((await load(codec)).totals).toMatchObject({ stored: 2, refused: 0 });
      expect(await statistics()).toEqual(BOTH);
      for (const [chainId, number] of [
        [1, 1],
        [10, 2],
      ] as const) {
        const record = await readRecord(
          given.store.database,
          chainId,
          sampleAddress(number),
          FILE_SECTIONS,
        );
        const files = filesOf(parseSections(record!.sections));
        const metadata = files.find((file) => file.path === 'metadata.json')?.content;
        expect(metadata).toBe(given.peer.metadata);
        expect(files.map(({ content }) => content)).toContain(CONTENT);
      }
      expect((await load(codec)).totals).toMatchObject({ stored: 0, unchanged: 2 });
    },
  );

  test('yields the newest of duplicate matches, and each row of overlapping files once', async () => {
    await writeParquet(given.peer.client, at('twice'));
    await given.peer.client.query(
      `UPDATE sourcify_matches SET runtime_match = 'perfect' WHERE runtime_match = 'partial'`,
    );
    await writeParquet(given.peer.client, at('twice'), { suffix: '1000_2000' });
    expect((await load('twice')).totals).toMatchObject({ stored: 2, refused: 0 });
    expect(await statistics()).toEqual({
      1: { full_match: 1, partial_match: 0 },
      10: { full_match: 1, partial_match: 0 },
    });
  });

  test('rejects invalid rows by name, like a database import', async () => {
    await given.peer.addRow({ address: sampleAddress(3), transformations: [] });
    await given.peer.addRow({ address: sampleAddress(4), runtime: null, creation: 'perfect' });
    await writeParquet(given.peer.client, at('refused'));
    const { totals, refused } = await load('refused');
    expect(totals).toMatchObject({ stored: 2, refused: 2 });
    expect(refused).toMatchObject([
      { path: 'verified_contracts/4', reason: 'no_runtime_match' },
      { path: 'verified_contracts/3', reason: 'codes_differ' },
    ]);
  });

  test('without Sourcify matches yields full ones with derived metadata', async () => {
    await writeParquet(given.peer.client, at('alone'));
    await rm(at('alone', 'sourcify_matches'), { recursive: true });
    await load('alone');
    expect(await statistics()).toEqual({
      1: { full_match: 1, partial_match: 0 },
      10: { full_match: 0, partial_match: 1 },
    });
  });
});

describe('an interrupted import', () => {
  const stage = async (
    name: string,
    {
      isTemporary = false,
      onRows = (): void => undefined,
      signal = new AbortController().signal,
    } = {},
  ): Promise<Pick<StagingProgress, 'files' | 'allFiles' | 'rows'>> => {
    let last = { files: 0, allFiles: 0, rows: 0 };
    const onProgress = (progress: StagingProgress): void => {
      const { files, allFiles, rows } = progress;
      last = { files, allFiles, rows };
      if (progress.rows > 0) onRows();
    };
    await given.store.database.session((session) =>
      stageParquet(session, at(name), {
        ...{ signal, isTemporary, onProgress },
        requireSpace: () => Promise.resolve(),
      }),
    );
    return last;
  };
  const stagedTables = async (): Promise<number> =>
    (
      await given.store.database.query(
        sql('test staged', `SELECT FROM pg_tables WHERE schemaname = 'fullmatch_import'`),
      )
    ).length;

  test('continues with complete tables, reads changed files again and leaves no table behind', async () => {
    await writeParquet(given.peer.client, at('continued'));
    const first = await stage('continued');
    expect(first.rows).toBeGreaterThan(0);
    expect(await stage('continued')).toEqual({ ...first, rows: 0 });
    await utimes(at('continued', 'sources', 'sources_0_1000.parquet'), 1, 1);
    const changed = await stage('continued');
    expect(changed.rows).toBeGreaterThan(0);
    expect(changed.rows).toBeLessThan(first.rows);
    expect(await stagedTables()).toBeGreaterThan(0);
    expect((await load('continued')).totals).toMatchObject({ stored: 2, refused: 0 });
    expect(await statistics()).toEqual(BOTH);
    expect(await stagedTables()).toBe(0);
  });

  test('reads an incomplete table again', async () => {
    await writeParquet(given.peer.client, at('incomplete'));
    const { rows } = await stage('incomplete', { isTemporary: true });
    const controller = new AbortController();
    const stopped = stage('incomplete', {
      signal: controller.signal,
      onRows: () => controller.abort(new Error('stopped')),
    });
    await expect(stopped).rejects.toThrow('stopped');
    expect((await stage('incomplete')).rows).toBe(rows);
    expect((await load('incomplete')).totals).toMatchObject({ stored: 2, refused: 0 });
  });

  test('accepts source paths that are longer than an index entry, and rejects a missing path', async () => {
    await given.peer.client.query(
      'ALTER TABLE compiled_contracts_sources DROP CONSTRAINT compiled_contracts_sources_compilation_id_path_key',
    );
    const long = randomBytes(4000).toString('hex');
    await given.peer.client.query('UPDATE compiled_contracts_sources SET path = $1', [long]);
    await writeParquet(given.peer.client, at('long'));
    expect((await stage('long')).rows).toBeGreaterThan(0);
    const file = at(
      'long',
      'compiled_contracts_sources',
      'compiled_contracts_sources_0_1000.parquet',
    );
    parquetWriteFile({
      filename: file,
      columnData: [
        { name: 'compilation_id', data: [randomUUID()], type: 'STRING' },
        { name: 'source_hash', data: [randomBytes(32)], type: 'BYTE_ARRAY' },
        { name: 'path', data: [null], type: 'STRING', nullable: true },
      ],
    });
    await expect(stage('long')).rejects.toMatchObject({ code: 'import_path_unusable' });
  });

  test('uses temporary tables for a user who may not change the schema', async () => {
    await writeParquet(given.peer.client, at('foreign'));
    await stage('foreign');
    const role = `import_${randomUUID().replaceAll('-', '')}`;
    await given.store.database.query(sql('test role', `CREATE ROLE ${role}`));
    await given.store.database.query(
      sql('test grant', `GRANT USAGE ON SCHEMA fullmatch_import TO ${role}`),
    );
    await given.store.database.session(async (session) => {
      await session.query(sql('test become role', `SET ROLE ${role}`));
      const staged = await stageParquet(session, at('foreign'), {
        ...{ signal: new AbortController().signal, isTemporary: false },
        ...{ onProgress: () => undefined, requireSpace: () => Promise.resolve() },
      });
      await staged.drop();
    });
    expect(await stagedTables()).toBeGreaterThan(0);
    await given.store.database.query(sql('test drop owned', `DROP OWNED BY ${role}`));
    await given.store.database.query(sql('test drop role', `DROP ROLE ${role}`));
  });

  test('stops before the disk is full and leaves no incomplete table', async () => {
    await writeParquet(given.peer.client, at('full'));
    const full = new FullmatchError('storage_full', 'Too little space.');
    await given.store.database.session(async (session) => {
      const staged = stageParquet(session, at('full'), {
        ...{ signal: new AbortController().signal, isTemporary: false },
        ...{ onProgress: () => undefined, requireSpace: () => Promise.reject(full) },
      });
      await expect(staged).rejects.toMatchObject({ code: 'storage_full' });
    });
    // Only the list of staged tables remains.
    expect(await stagedTables()).toBe(1);
  });

  test('drops tables of another export', async () => {
    await writeParquet(given.peer.client, at('former'));
    await stage('former');
    await writeParquet(given.peer.client, at('latter'));
    await rm(at('latter', 'sourcify_matches'), { recursive: true });
    expect((await load('latter')).totals).toMatchObject({ stored: 2, refused: 0 });
  });

  test('uses temporary tables during another import and for a dry run', async () => {
    await writeParquet(given.peer.client, at('both'));
    const lock = sql('test lock staging', 'SELECT pg_advisory_lock($1, $2)');
    await given.store.database.session(async (session) => {
      await session.query(lock, [...ADVISORY_LOCKS.staging]);
      expect((await load('both')).totals).toMatchObject({ stored: 2, refused: 0 });
    });
    expect((await fullmatch('import', 'both', '--dry-run')).exitCode).toBe(0);
    expect(await stagedTables()).toBe(0);
  });
});
