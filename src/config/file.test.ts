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

describe('Configuration file', () => {
  test('is read as UTF-8, without a byte order mark', () => {
    expect(diskFiles.read(make('a.yaml', '\uFEFFhost: ü'))).toBe('host: ü');
  });

  test('that is missing returns undefined', () => {
    expect(diskFiles.read(path.join(folder, 'none'))).toBeUndefined();
  });

  test('in another encoding is rejected', () => {
    const file = make('utf16.yaml', Buffer.from('host: x', 'utf16le'));
    const latin = make('latin.yaml', Buffer.from([0x68, 0xfc]));
    expect(() => diskFiles.read(latin)).toThrow(unreadable);
    expect(diskFiles.read(file)).toContain('\0');
  });

  test('that is too large, a folder or a symlink loop is rejected', () => {
    const large = make('large.yaml', Buffer.alloc(1_048_577, 0x20));
    mkdirSync(path.join(folder, 'inside'));
    symlinkSync('circle', path.join(folder, 'circle'));
    for (const file of [large, path.join(folder, 'inside'), path.join(folder, 'circle')]) {
      expect(() => diskFiles.read(file)).toThrow(unreadable);
    }
  });

  test.skipIf(process.getuid?.() === 0)(
    'without read permission is rejected (root may read everything)',
    () => {
      const file = make('closed.yaml', 'host: x');
      chmodSync(file, 0);
      expect(() => diskFiles.read(file)).toThrow(unreadable);
    },
  );
});

test('lists a folder in a fixed order and returns undefined if it is missing', () => {
  const inner = path.join(folder, 'chains.d');
  mkdirSync(inner);
  for (const name of ['b', 'a', 'C']) writeFileSync(path.join(inner, name), '');
  expect(diskFiles.list(inner)).toEqual(['C', 'a', 'b']);
  expect(diskFiles.list(path.join(folder, 'none'))).toBeUndefined();
});

test('shows a path relative to the working directory if below it', () => {
  expect(showPath('/srv/a/b', '/srv')).toBe('a/b');
  expect(showPath('/etc/a', '/srv')).toBe('/etc/a');
  expect(showPath('/srvx', '/srv')).toBe('/srvx');
});
