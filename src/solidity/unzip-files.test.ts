import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { ArchiveFault, unzipFiles } from './unzip-files.ts';

const BOUNDS = { files: 3, bytes: 1000 };
const anything = (): boolean => true;
const unzip = (
  files: Readonly<Record<string, string>>,
  fits: (path: string) => boolean = anything,
): Readonly<Record<string, string>> => {
  const entries = Object.entries(files).map(([path, text]) => [path, strToU8(text)] as const);
  const archive = { name: 'a.zip', bytes: zipSync(Object.fromEntries(entries)) };
  const found = unzipFiles(archive, fits, BOUNDS);
  return Object.fromEntries(
    found.map(({ path, bytes }) => [path, Buffer.from(bytes).toString('utf8')]),
  );
};
const faultOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test('an archive gives the files whose path fits, without those of file managers', () => {
  const files = {
    'sources/Zähler.sol': 'contract A {}',
    'logo.png': 'x',
    '__MACOSX/sources/._A.sol': 'x',
    '.git/a.sol': 'x',
  };
  expect(unzip(files, (path) => path.endsWith('.sol'))).toEqual({
    'sources/Zähler.sol': 'contract A {}',
  });
});

test('an archive with more files or bytes than allowed is rejected', () => {
  const files = { a: '', b: '', c: '', d: '' };
  expect(faultOf(() => unzip(files))).toBeInstanceOf(ArchiveFault);
  expect(unzip(files, (path) => path !== 'a')).toEqual({ b: '', c: '', d: '' });
  expect(faultOf(() => unzip({ a: 'x'.repeat(1001) }))).toBeInstanceOf(ArchiveFault);
  expect(unzip({ a: 'x'.repeat(1000) })).toEqual({ a: 'x'.repeat(1000) });
});

test('an entry is not decompressed beyond the size that it states', () => {
  const bytes = zipSync({ a: strToU8('x'.repeat(5000)) });
  // The size in the central directory, 24 bytes after its signature.
  const at = Buffer.from(bytes).indexOf(Buffer.from('504b0102', 'hex')) + 24;
  new DataView(bytes.buffer).setUint32(at, 10, true);
  const [entry] = unzipFiles({ name: 'a.zip', bytes }, anything, BOUNDS);
  expect(entry?.bytes).toHaveLength(10);
});

test('what is no archive is rejected by name', () => {
  const fault = faultOf(() =>
    unzipFiles({ name: 'a.zip', bytes: strToU8('contract A {}') }, anything, BOUNDS),
  );
  expect(fault).toBeInstanceOf(ArchiveFault);
  expect((fault as Error).message).toMatch(/^a\.zip /);
});
