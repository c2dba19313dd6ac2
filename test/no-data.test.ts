// Reading commands never create a database: they report that there is none.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase } from './support/test-database.ts';

const ADDRESS = `0x${'11'.repeat(20)}`;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeAll(async () => {
  folder = await createTemporaryFolder();
});
afterAll(() => folder.remove());

test.each([
  ['jobs', 'list'],
  ['recount'],
  ['withdraw', '1', ADDRESS, '--reason', 'test'],
  ['recheck', '--all'],
  ['reverify', '--all'],
  ['reindex'],
  ['monitor', 'status'],
  ['export', 'out.tar'],
  ['backup', 'out.tgz'],
])('%s in an empty folder says where it looked and leaves the folder empty', async (...args) => {
  const { exitCode, stdout, stderr } = await runInProcess(args, { workingDirectory: folder.path });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain('error[no_data]: No data here');
  expect(stderr).toContain(path.join(folder.path, 'fullmatch-data'));
  expect(await readdir(folder.path)).toEqual([]);
});

test('a database without Fullmatch tables counts as no data and is not migrated', async () => {
  const testDatabase = await createTestDatabase();
  const { database, url } = testDatabase;
  try {
    const empty = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public';
    for (const text of empty.split('; ')) await database.query(sql(`test ${text}`, text));
    const run = await runInProcess(['recount', '--json'], {
      workingDirectory: folder.path,
      environment: { DATABASE_URL: url },
    });
    expect(run.exitCode).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({ code: 'no_data' });
    const tables = sql('test tables', `SELECT FROM pg_tables WHERE schemaname = 'public'`);
    expect(await database.query(tables)).toEqual([]);
  } finally {
    await testDatabase.drop();
  }
});

test('an import from a missing path creates no database either', async () => {
  const { exitCode, stderr } = await runInProcess(['import', 'nowhere'], {
    workingDirectory: folder.path,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('error[import_path_unusable]');
  expect(await readdir(folder.path)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a data directory that cannot be created ends the start immediately (skipped: not Linux)',
  async () => {
    const { exitCode, stderr } = await runInProcess(
      ['start', '--data-dir', '/proc/x', '--api-port', '0', '--repository-port', '0'],
      { workingDirectory: folder.path },
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[data_directory_unusable]');
  },
);
