import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { openIcons } from './chain-icons.ts';
import { type ChainRecord } from './chain-record.ts';

let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
let folder: string;
beforeAll(async () => {
  temporary = await createTemporaryFolder();
  folder = path.join(temporary.path, 'icons');
  await mkdir(path.join(folder, 'folder.svg'), { recursive: true });
  await writeFile(path.join(temporary.path, 'secret.svg'), 'secret');
  await symlink(path.join(temporary.path, 'secret.svg'), path.join(folder, 'link.svg'));
  for (const name of ['1.svg', 'ether.PNG', 'ether.gif', 'page.html', 'ａ b.svg', '.svg', 'x']) {
    await writeFile(path.join(folder, name), name);
  }
  await writeFile(path.join(folder, 'huge.png'), Buffer.alloc(1_048_577));
});
afterAll(() => temporary.remove());

const record = (chainId: number, icon?: string): ChainRecord => ({
  name: 'A',
  rpc: [],
  chainId,
  supported: false,
  monitored: false,
  ...(icon === undefined ? {} : { icon }),
});
async function read(chain: ChainRecord): Promise<string | undefined> {
  const icon = await (await openIcons(folder)).read(chain);
  return icon && `${icon.type} ${icon.bytes.toString()}`;
}

describe('Icon folder', () => {
  test.each<[ChainRecord, string | undefined, string]>([
    [record(1, 'ether'), 'image/svg+xml 1.svg', 'the file of the id goes first'],
    [record(2, 'ether'), 'image/png ether.PNG', 'the better of two endings, in any case'],
    [record(2, 'ａ b'), 'image/svg+xml ａ b.svg', 'any name is a name'],
    [record(2), undefined, 'nothing names it'],
    [record(2, 'page'), undefined, 'a page is not a picture'],
    [record(2, 'x'), undefined, 'nor is what has no ending'],
    [record(2, 'folder'), undefined, 'nor a folder'],
    [record(2, 'link'), undefined, 'nor a link'],
    [record(2, 'huge'), undefined, 'nor a large file'],
    [record(2, '../secret'), undefined, 'a name is not a path'],
    [record(2, '..%2fsecret'), undefined, 'in no spelling'],
    [record(2, './1'), undefined, 'also not to what is there'],
    [record(2, ''), undefined, 'an empty name is none'],
    [record(2, '__proto__'), undefined, 'a member of every object is none'],
  ])('maps the icon of %j to %s: %s', async (chain, expected) => {
    expect(await read(chain)).toBe(expected);
  });

  test('returns nothing for an icon that vanished or became a symlink', async () => {
    const gone = path.join(folder, 'gone.svg');
    await writeFile(gone, 'gone');
    const icons = await openIcons(folder);
    expect(icons.has(record(2, 'gone'))).toBe(true);
    await rm(gone);
    expect(await icons.read(record(2, 'gone'))).toBeUndefined();
    await symlink(path.join(temporary.path, 'secret.svg'), gone);
    expect(await icons.read(record(2, 'gone'))).toBeUndefined();
  });

  test('is optional, but a configured folder must exist', async () => {
    expect((await openIcons(undefined)).has(record(1))).toBe(false);
    await expect(openIcons(path.join(folder, 'missing'))).rejects.toMatchObject({
      code: 'invalid_configuration',
    });
  });
});
