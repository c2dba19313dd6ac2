// `fullmatch import` of damaged Parquet exports: the file is named, and nothing is stored.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { createAllianceDatabase } from './support/alliance-database.ts';
import { writeParquet } from './support/parquet-export.ts';
import { runInProcess } from './support/run-cli.ts';
import { sampleAddress } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let store: TestDatabase;

const at = (...names: readonly string[]): string => path.join(folder.path, ...names);
const fileOf = (table: string): string => at('damaged', table, `${table}_0_1000.parquet`);

beforeAll(async () => {
  folder = await createTemporaryFolder();
  const [created, peer] = await Promise.all([createTestDatabase(), createAllianceDatabase()]);
  store = created;
  await peer.addRow({ address: sampleAddress(1) });
  await peer.addRow({ address: sampleAddress(2), chainId: 10, runtime: 'partial' });
  await writeParquet(peer.client, at('whole'));
  await peer.drop();
});
afterAll(async () => {
  await store.drop();
  await folder.remove();
});
afterEach(() => rm(at('damaged'), { recursive: true }));

/** Imports the damaged export; returns the error. */
async function reject(): Promise<unknown> {
  const { exitCode, stdout } = await runInProcess(['import', 'damaged', '--json'], {
    environment: { DATABASE_URL: store.url, FULLMATCH_REGISTRY_INCLUDE: 'configured' },
    workingDirectory: folder.path,
  });
  expect(exitCode).not.toBe(0);
  const statistics = renderStatistics(await readStatistics(store.database)).toString('utf8');
  expect(JSON.parse(statistics)).toEqual({});
  return JSON.parse(stdout);
}

const DAMAGES: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is empty': () => Buffer.alloc(0),
  'is a text file': () => Buffer.from('no Parquet at all, though long enough to be read\n'),
  'is all zeros': (bytes) => Buffer.alloc(bytes.length),
  'is truncated at its end': (bytes) => bytes.subarray(0, -9),
  'is truncated in the middle': (bytes) => bytes.subarray(0, bytes.length / 2),
  'lacks its beginning': (bytes) => bytes.subarray(bytes.length / 2),
  'claims a footer longer than the file': (bytes) => {
    bytes.writeUInt32LE(0x7fffffff, bytes.length - 8);
    return bytes;
  },
  'claims an empty footer': (bytes) => {
    bytes.writeUInt32LE(0, bytes.length - 8);
    return bytes;
  },
  'has overwritten pages': (bytes) => bytes.fill(0xff, 4, 200),
  'has zeroed pages': (bytes) => bytes.fill(0, 4, 200),
};

describe('a damaged export is rejected with the file name, and nothing is stored', () => {
  test.each(
    Object.keys(DAMAGES).flatMap((damage) =>
      ['code', 'verified_contracts'].map((table) => ({ table, damage })),
    ),
  )('$table $damage', async ({ table, damage }) => {
    await cp(at('whole'), at('damaged'), { recursive: true });
    await writeFile(fileOf(table), DAMAGES[damage]!(await readFile(fileOf(table))));
    expect(await reject()).toMatchObject({ code: 'import_path_unusable', path: fileOf(table) });
  });

  test('a missing table', async () => {
    await cp(at('whole'), at('damaged'), { recursive: true });
    await rm(at('damaged', 'sources'), { recursive: true });
    expect(await reject()).toMatchObject({ code: 'import_path_unusable' });
  });

  test("files with another table's columns", async () => {
    await cp(at('whole'), at('damaged'), { recursive: true });
    await rm(at('damaged', 'sources'), { recursive: true });
    await mkdir(at('damaged', 'sources'));
    await cp(fileOf('code'), fileOf('sources'));
    expect(await reject()).toMatchObject({ code: 'import_path_unusable', path: fileOf('sources') });
  });
});
