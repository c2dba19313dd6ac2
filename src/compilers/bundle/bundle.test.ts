import { copyFile, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { solcPackageOf } from '../../../test/support/solc-packages.ts';
import { createTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { FullmatchError } from '../../errors.ts';
import { CompilerFinder } from '../sources/compiler-finder.ts';
import { installBundle } from './install-bundle.ts';
import { writeBundle } from './write-bundle.ts';

const OLD = '0.4.18+commit.9cf6e910';
const NEW = '0.9.0+commit.0badc0de';
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function makeFolder(): Promise<string> {
  const folder = await createTemporaryFolder();
  closers.push(folder.remove);
  return folder.path;
}

async function refusalOf(bundle: string, folder: string, trustList = false): Promise<string> {
  try {
    await installBundle(bundle, { folder, trustList });
    return 'taken';
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    expect(error.code).toBe('compiler_bundle_refused');
    return error.message;
  }
}

const BLOCK = 512;

/** Builds an archive (POSIX ustar) with one entry whose header can be modified. */
function archiveOf(name: string, text: string, change: (header: Buffer) => void = () => undefined) {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write('0000644\0' + '0000000\0' + '0000000\0', 100);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257);
  change(header);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / BLOCK) * BLOCK);
  body.write(text);
  return Buffer.concat([header, body, Buffer.alloc(2 * BLOCK)]);
}

async function write(bytes: Uint8Array): Promise<string> {
  const file = path.join(await makeFolder(), 'bundle.tar');
  await writeFile(file, bytes);
  return file;
}

describe('Compiler bundle', () => {
  test('unpacks into another folder with working compilers', async () => {
    const { file } = await new CompilerFinder({ packages: [solcPackageOf(OLD)] }).findHere(OLD);
    const bundle = path.join(await makeFolder(), 'compilers.tar');
    await writeBundle(bundle, [file!]);
    const folder = path.join(await makeFolder(), 'compilers');
    expect(await installBundle(bundle, { folder, trustList: false })).toEqual([
      { longVersion: OLD, fileName: `soljson-v${OLD}.js`, pinned: true },
    ]);
    const found = await new CompilerFinder({ directory: folder, packages: [] }).find('0.4.18');
    expect(found).toMatchObject({ sha256: file!.sha256, source: 'directory', pinned: true });
    expect((await stat(bundle)).size % 512).toBe(0);
  });

  test('adds uncatalogued compilers only if its list is trusted', async () => {
    const source = path.join(await makeFolder(), `soljson-v${NEW}.js`);
    await writeFile(source, 'new');
    const sha256 = '11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437';
    const compiler = {
      ...({ compiler: 'solc', longVersion: NEW, kind: 'soljson' } as const),
      ...{ path: source, sha256 },
    } as const;
    const bundle = path.join(await makeFolder(), 'compilers.tar');
    await writeBundle(bundle, [{ ...compiler, listed: true, pinned: false, source: 'download' }]);
    const folder = await makeFolder();
    expect(await refusalOf(bundle, folder)).toContain('is not in the catalogue');
    expect(await readdir(folder)).toEqual([]);
    expect(await refusalOf(bundle, folder, true)).toBe('taken');
    const found = await new CompilerFinder({ directory: folder, packages: [] }).find('0.9.0');
    expect(found).toMatchObject({ longVersion: NEW, pinned: false, listed: true });
  });

  test('with altered content is rejected by name and leaves no files', async () => {
    const folder = await makeFolder();
    const bundle = await write(archiveOf(`bin/soljson-v${OLD}.js`, 'changed'));
    expect(await refusalOf(bundle, folder, true)).toContain(`bin/soljson-v${OLD}.js differs`);
    expect(await readdir(folder)).toEqual([]);
  });

  const name = `bin/soljson-v${OLD}.js`;
  test.each<[string, Buffer, string]>([
    ['a path that leads out', archiveOf('../soljson-v0.js', 'x'), 'no name of a compiler'],
    ['an absolute path', archiveOf('/etc/passwd', 'x'), 'no name of a compiler'],
    ['a path within', archiveOf(`bin/../${name}`, 'x'), 'no name of a compiler'],
    ['another folder', archiveOf(`linux-amd64/soljson-v${OLD}.js`, 'x'), 'no name of a compiler'],
    ['a link', archiveOf(name, '', (header) => header.write('2', 156)), 'not a plain file'],
    ['a hard link', archiveOf(name, '', (header) => header.write('1', 156)), 'not a plain file'],
    [
      'a broken header',
      archiveOf(name, 'x', (header) => header.write('x', 156)),
      'no complete tar',
    ],
    ['a prefix', archiveOf(name, 'x', (header) => header.write('../..', 345)), 'no name of a'],
    ['a huge file', archiveOf(name, '', (header) => header.write('77777777777\0', 124)), 'larger'],
    ['what is cut off', archiveOf(name, 'x'.repeat(2000)).subarray(0, 1024), 'no complete tar'],
    ['what is no archive', Buffer.alloc(2048, 'x'), 'no complete tar archive'],
    ['nothing', Buffer.alloc(0), 'no compiler'],
  ])('with %s is rejected', async (_, bytes, reason) => {
    const folder = await makeFolder();
    expect(await refusalOf(await write(bytes), folder, true)).toContain(reason);
    expect(await readdir(folder)).toEqual([]);
  });

  test('does not write through a symlink in the folder', async () => {
    const { file } = await new CompilerFinder({ packages: [solcPackageOf(OLD)] }).findHere(OLD);
    const bundle = path.join(await makeFolder(), 'compilers.tar');
    await writeBundle(bundle, [file!]);
    const folder = await makeFolder();
    const outside = path.join(await makeFolder(), 'outside');
    await copyFile(bundle, outside);
    const before = await readFile(outside);
    await symlink(outside, path.join(folder, `soljson-v${OLD}.js`));
    await installBundle(bundle, { folder, trustList: false });
    expect(before.equals(await readFile(outside))).toBe(true);
  });
});
