import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { nearestExisting, requireWritable } from './writable-folder.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
beforeAll(async () => {
  folder = await createTemporaryFolder();
  await mkdir(path.join(folder.path, 'there'));
  await writeFile(path.join(folder.path, 'file'), '');
});
afterAll(() => folder.remove());

test('a folder that is there, or can be made, is writable', async () => {
  await requireWritable(path.join(folder.path, 'there'));
  await requireWritable(path.join(folder.path, 'there', 'a', 'b'));
  expect(await nearestExisting(path.join(folder.path, 'there', 'a', 'b'))).toBe(
    path.join(folder.path, 'there'),
  );
});

test.each(['file', 'file/below'])('%s is none', async (name) => {
  await expect(requireWritable(path.join(folder.path, name))).rejects.toMatchObject({
    code: 'ENOTDIR',
  });
});
