import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { diskFiles, showPath } from './file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fullmatch-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const make = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};
const unreadable = expect.objectContaining({ code: 'configuration_file_unreadable' }) as unknown;

describe('a file', () => {
  test('is read as UTF-8, without a byte order mark', () => {
    expect(diskFiles.read(make('a.yaml', '\uFEFFhost: ü'))).toBe('host: ü');
  });

  test('that is not there is undefined', () => {
    expect(diskFiles.read(path.join(folder, 'none'))).toBeUndefined();
  });

  test('in another encoding is refused', () => {
    const file = make('utf16.yaml', Buffer.from('host: x', 'utf16le'));
    const latin = make('latin.yaml', Buffer.from([0x68, 0xfc]));
    expect(() => diskFiles.read(latin)).toThrow(unreadable);
    expect(diskFiles.read(file)).toContain('\0');
  });

  test('that is too large, a folder, or a circle of links is refused', () => {
    const large = make('large.yaml', Buffer.alloc(1_048_577, 0x20));
    mkdirSync(path.join(folder, 'inside'));
    symlinkSync('circle', path.join(folder, 'circle'));
    for (const file of [large, path.join(folder, 'inside'), path.join(folder, 'circle')]) {
      expect(() => diskFiles.read(file)).toThrow(unreadable);
    }
  });

  test.skipIf(process.getuid?.() === 0)(
    'without permission is refused (root may read everything)',
    () => {
      const file = make('closed.yaml', 'host: x');
      chmodSync(file, 0);
      expect(() => diskFiles.read(file)).toThrow(unreadable);
    },
  );
});

test('a folder is listed in one order, and undefined when it is not there', () => {
  const inner = path.join(folder, 'chains.d');
  mkdirSync(inner);
  for (const name of ['b', 'a', 'C']) writeFileSync(path.join(inner, name), '');
  expect(diskFiles.list(inner)).toEqual(['C', 'a', 'b']);
  expect(diskFiles.list(path.join(folder, 'none'))).toBeUndefined();
});

test('a path is shown relative when it is below the working directory', () => {
  expect(showPath('/srv/a/b', '/srv')).toBe('a/b');
  expect(showPath('/etc/a', '/srv')).toBe('/etc/a');
  expect(showPath('/srvx', '/srv')).toBe('/srvx');
});
