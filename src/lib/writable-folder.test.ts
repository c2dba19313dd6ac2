import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { makeFolder, nearestExisting, requireWritable } from './writable-folder.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeAll(async () => {
  folder = await createTemporaryFolder();
  await mkdir(path.join(folder.path, 'there'));
  await writeFile(path.join(folder.path, 'file'), '');
});
afterAll(() => folder.remove());

test('accepts a folder that exists or can be created', async () => {
  await requireWritable(path.join(folder.path, 'there'));
  await requireWritable(path.join(folder.path, 'there', 'a', 'b'));
  expect(await nearestExisting(path.join(folder.path, 'there', 'a', 'b'))).toBe(
    path.join(folder.path, 'there'),
  );
});

test.each(['file', 'file/below'])('rejects %s', async (name) => {
  await expect(requireWritable(path.join(folder.path, name))).rejects.toMatchObject({
    code: 'ENOTDIR',
  });
});

test('creates a folder with its parents, concurrently and repeatedly', async () => {
  const wanted = path.join(folder.path, 'made', 'by', 'several');
  await Promise.all([makeFolder(wanted), makeFolder(wanted), makeFolder(path.dirname(wanted))]);
  await makeFolder(wanted);
  expect((await stat(wanted)).isDirectory()).toBe(true);
});

test.each([
  ['/proc/x', 'ENOENT'],
  ['/proc/x/y', 'ENOENT'],
])('%s, which cannot be created, fails without an endless loop', async (wanted, code) => {
  if (process.platform !== 'linux') return;
  await expect(makeFolder(wanted)).rejects.toMatchObject({ code });
});

test('rejects a file in place of a folder', async () => {
  const file = path.join(folder.path, 'file');
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(path.join(file, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});
