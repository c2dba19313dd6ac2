// `fullmatch import` of archives: the same result as for the folder; a damaged archive is rejected by name.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FullmatchError } from '../src/errors.ts';
import { importRepository, type ImportOptions } from '../src/importer/import-repository.ts';
import { type ImportSummary } from '../src/importer/import-tally.ts';
import { checksumAddress } from '../src/lib/hex.ts';
import { silentLogger } from '../src/log.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { exampleAddress, writeExampleTree } from './support/example-tree.ts';
import { writeShowTree } from './support/show-tree.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import {
  type ArchiveEntry,
  compressZstd,
  entriesBelow,
  packArchive,
} from './support/tree-archives.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let store: TestDatabase;
let tree: readonly ArchiveEntry[];
const CONTRACT = `contracts/full_match/1/${checksumAddress(exampleAddress(7))}`;

const at = (name: string): string => join(folder.path, name);
const load = (path: string, options: Partial<ImportOptions> = {}): Promise<ImportSummary> =>
  importRepository({
    path: at(path),
    database: store.database,
    dryRun: false,
    log: silentLogger,
    ...options,
  });
const statistics = async (): Promise<unknown> =>
  JSON.parse(renderStatistics(await readStatistics(store.database)).toString('utf8'));
/** Returns the importer's result: its error code, or the reasons of its rejections. */
const judge = (bytes: Buffer): Promise<string | readonly string[]> =>
  writeFile(at('judged'), bytes)
    .then(() => load('judged'))
    .then(
      ({ refused }) => refused.map(({ reason }) => reason),
      (error: unknown) => {
        if (error instanceof FullmatchError) return error.code;
        throw error;
      },
    );

beforeAll(async () => {
  folder = await createTemporaryFolder();
  await mkdir(at('one'));
  await writeExampleTree(at('one'), {
    layout: 'v1',
    contracts: [{ chainId: 1, match: 'full', address: exampleAddress(7) }],
  });
  tree = await entriesBelow(at('one'));
});
afterAll(() => folder.remove());
beforeEach(async () => {
  store = await createTestDatabase();
});
afterEach(() => store.drop());

describe('a tree archive', () => {
  test.each([
    { name: 'tar', encode: (bytes: Buffer) => bytes },
    { name: 'tar.gz', encode: (bytes: Buffer) => gzipSync(bytes) },
    { name: 'tar.zst', encode: compressZstd },
  ])(
    'imported as $name has the same counts and rejections as its folder',
    async ({ name, encode }) => {
      const show = `show-${name}`;
      const { counts, refused } = await writeShowTree(at(show));
      await writeFile(at(`${show}.bin`), encode(await packArchive(await entriesBelow(at(show)))));
      const summary = await load(`${show}.bin`);
      expect(await statistics()).toEqual(counts);
      expect(new Set(summary.refused.map(({ path, reason }) => `${path} ${reason}`))).toEqual(
        new Set(refused.map(({ path, reason }) => `${path} ${reason}`)),
      );
      const again = await load(`${show}.bin`);
      expect(again.totals).toMatchObject({ stored: 0, upgraded: 0 });
    },
  );

  test('may contain the tree in folders with other files next to it', async () => {
    const entries = tree.map((entry) => ({ ...entry, name: `./export/2026/${entry.name}` }));
    const beside = { name: './export/stats.json', content: '{}' };
    await writeFile(at('within'), await packArchive([beside, ...entries]));
    expect(await load('within')).toMatchObject({ totals: { stored: 1 }, foreignFiles: 1 });
  });

  test.each([['full', 'partial'] as const, ['partial', 'full'] as const])(
    'with a %s and then a %s match of one address produces a full one',
    async (first, second) => {
      const of = (match: string): ArchiveEntry[] =>
        tree
          .filter(({ name }) => name.startsWith(CONTRACT))
          .map((entry) => ({ ...entry, name: entry.name.replace('full', match) }));
      await writeFile(at('both'), await packArchive([...of(first), ...of(second)]));
      await load('both');
      expect(await statistics()).toEqual({ 1: { full_match: 1, partial_match: 0 } });
    },
  );

  test('validates everything and stores nothing in a dry run', async () => {
    await writeFile(at('dry'), await packArchive(tree));
    expect(await load('dry', { dryRun: true })).toMatchObject({ totals: { stored: 1 } });
    expect(await statistics()).toEqual({});
  });

  test('leaves no files behind, whatever its entries are named', async () => {
    const before = await readdir(folder.path, { recursive: true });
    const names = ['../up', '/tmp/absolute', 'contracts/full_match/1/../../up', `${CONTRACT}/../x`];
    const hostile = names.map((name) => ({ name, content: 'x' }));
    expect(await judge(await packArchive([...hostile, ...tree]))).toEqual(
      names.map(() => 'path_outside_tree'),
    );
    expect(await readdir(folder.path, { recursive: true })).toEqual(expect.arrayContaining(before));
    expect(await statistics()).toEqual({ 1: { full_match: 1, partial_match: 0 } });
  });
});

describe('a damaged archive is rejected by name', () => {
  const inContract = (entry: Omit<ArchiveEntry, 'name'>, name: string) => (): Promise<Buffer> =>
    packArchive([...tree, { ...entry, name: `${CONTRACT}/${name}` }]);
  const changed = (change: (bytes: Buffer) => Buffer) => async (): Promise<Buffer> =>
    change(Buffer.from(await packArchive(tree)));
  /** Turns the first file into a PAX header for the next one (POSIX, pax Interchange Format). */
  const asPax = (bytes: Buffer): Buffer => {
    bytes.write('x', 156);
    bytes.fill(' ', 148, 156);
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return bytes;
  };
  const UNUSABLE = 'import_path_unusable';
  const many = (count: number): ArchiveEntry[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `${CONTRACT}/sources/${index}`,
      content: '',
    }));

  test.each<{
    readonly what: string;
    make: () => Promise<Buffer> | Buffer;
    answer: string | string[];
  }>([
    { what: 'an empty file', make: () => Buffer.alloc(0), answer: UNUSABLE },
    {
      what: 'a text file',
      make: () => Buffer.from('no archive at all\n'.repeat(100)),
      answer: UNUSABLE,
    },
    { what: 'zeros', make: () => Buffer.alloc(10_240), answer: UNUSABLE },
    {
      what: 'an archive of other files',
      make: () => packArchive([{ name: 'a', content: 'b' }]),
      answer: UNUSABLE,
    },
    {
      what: 'a tar truncated in a header',
      make: changed((bytes) => bytes.subarray(0, 700)),
      answer: UNUSABLE,
    },
    {
      what: 'a tar truncated in a file',
      make: changed((bytes) => bytes.subarray(0, bytes.length - 2_000)),
      answer: UNUSABLE,
    },
    {
      what: 'a tar with a wrong checksum',
      make: changed((bytes) => (bytes.write('x', 0), bytes)),
      answer: UNUSABLE,
    },
    ...['-8 a=bc\n', '0 a=bc\n', 'x a=bc\n', '1\t1\t1\t', '99999999999 a=b\n'].map((content) => ({
      what: `a tar with a PAX header that contains ${JSON.stringify(content)}`,
      make: async () => asPax(await packArchive([{ name: 'x', content }, ...tree])),
      answer: UNUSABLE,
    })),
    { what: 'a gzip of an empty file', make: () => gzipSync(''), answer: UNUSABLE },
    {
      what: 'a truncated gzip',
      make: async () => gzipSync(await packArchive(tree)).subarray(0, -30),
      answer: UNUSABLE,
    },
    {
      what: 'a gzip with a wrong checksum',
      make: async () => {
        const bytes = gzipSync(await packArchive(tree));
        bytes.writeUInt32LE(1, bytes.length - 8);
        return bytes;
      },
      answer: UNUSABLE,
    },
    {
      what: 'a truncated zstd',
      make: async () => compressZstd(await packArchive(tree)).subarray(0, -30),
      answer: UNUSABLE,
    },
    {
      what: 'a zstd without content',
      make: () => Buffer.from('28b52ffd', 'hex'),
      answer: UNUSABLE,
    },
    {
      what: 'a zstd with a window of 3 TiB',
      make: () => Buffer.from('28b52ffd00ff010000000000000000000000', 'hex'),
      answer: UNUSABLE,
    },
    {
      what: 'a symbolic link in a contract',
      make: inContract({ type: 'symlink', linkname: '/etc/passwd' }, 'sources/x'),
      answer: ['symlink'],
    },
    {
      what: 'a hard link in a contract',
      make: inContract({ type: 'link', linkname: 'x' }, 'metadata.json'),
      answer: ['symlink'],
    },
    {
      what: 'a link outside the contracts',
      make: () => packArchive([...tree, { name: 'x', type: 'symlink', linkname: '/' }]),
      answer: ['symlink'],
    },
    {
      what: 'a fifo in a contract',
      make: inContract({ type: 'fifo' }, 'metadata.json'),
      answer: ['special_file'],
    },
    {
      what: 'a device in a contract',
      make: inContract({ type: 'block-device' }, 'sources/x'),
      answer: ['special_file'],
    },
    {
      what: 'a file in place of a contract',
      make: () => packArchive([{ name: CONTRACT, content: 'x' }]),
      answer: ['not_a_folder'],
    },
    {
      what: 'a chain id with a leading zero',
      make: () =>
        packArchive([{ name: `full_match/01/${exampleAddress(1)}/metadata.json`, content: '{}' }]),
      answer: ['invalid_chain_id'],
    },
    {
      what: 'an invalid address',
      make: () => packArchive([{ name: 'full_match/1/0x12/metadata.json', content: '{}' }]),
      answer: ['invalid_address'],
    },
    {
      what: 'a contract without metadata',
      make: () => packArchive([{ name: `${CONTRACT}/x`, content: '{}' }]),
      answer: ['missing_metadata'],
    },
    {
      what: 'invalid metadata',
      make: inContract({ content: 'no' }, 'metadata.json'),
      answer: ['broken_metadata'],
    },
    {
      what: 'metadata of 17 MB',
      make: inContract({ content: Buffer.alloc(17 * 2 ** 20, 0x20) }, 'metadata.json'),
      answer: ['file_too_large'],
    },
    {
      what: 'more files than a contract may have',
      make: () => packArchive([...many(10_001), ...tree]),
      answer: ['too_many_files'],
    },
    {
      what: 'empty files with names of 33 MB in all',
      make: () =>
        packArchive([
          ...Array.from({ length: 33 }, (_, index) => ({
            name: `${CONTRACT}/sources/${index}${'a'.repeat(2 ** 20)}`,
            content: '',
          })),
          ...tree,
        ]),
      answer: ['too_many_files'],
    },
    {
      what: 'a contract in two places',
      make: () =>
        packArchive([
          ...tree,
          { name: 'x', content: '' },
          { name: `${CONTRACT}/metadata.json`, content: 'no' },
        ]),
      answer: ['broken_metadata'],
    },
  ])('$what', async ({ make, answer }) => {
    expect(await judge(await make())).toEqual(answer);
  });
});
