import { expect, test } from 'vitest';
import { SOLC_NAMES } from '../toolchains/solc-names.ts';
import { type CompilerList, parseCompilerList } from './compiler-list.ts';
import { PublishedLists } from './published-lists.ts';

const SHA256 = `0x${'ab'.repeat(32)}`;
const SOUND = {
  path: 'soljson-v0.8.30+commit.73712a01.js',
  longVersion: '0.8.30+commit.73712a01',
  sha256: SHA256,
};

function read(list: unknown): CompilerList {
  return parseCompilerList(Buffer.from(JSON.stringify(list)));
}

function parse(...builds: unknown[]): readonly string[] {
  return [...read({ builds }).byFileName.keys()];
}

test('parses a list in the format of the official binaries', () => {
  const list = read({ builds: [SOUND], latestRelease: '0.8.30' });
  expect(list.byFileName.get(SOUND.path)?.sha256).toBe('ab'.repeat(32));
});

test.each([
  ['a path that leaves the folder', { ...SOUND, path: '../../etc/passwd' }],
  ['an absolute path', { ...SOUND, path: '/bin/sh' }],
  ['a path with a line break', { ...SOUND, path: 'a\nb' }],
  ['no version', { ...SOUND, longVersion: 'latest' }],
  ['a short checksum', { ...SOUND, sha256: '0xabcd' }],
  ['no checksum', { ...SOUND, sha256: undefined }],
  ['nothing', null],
])('skips an entry with %s', (_what, entry) => {
  expect(parse(entry, SOUND)).toEqual([SOUND.path]);
});

test('lists a version only if its file has the expected name', async () => {
  const stranger = { ...SOUND, path: 'soljson-v0.8.29+commit.ab55807c.js' };
  const versionsIn = (...builds: unknown[]) => {
    const body = Buffer.from(JSON.stringify({ builds }));
    const fetch = {
      fetch: (url: string) =>
        Promise.resolve({ status: 200, headers: {}, redirects: 0, url, body }),
    };
    return new PublishedLists('https://mirror.test', SOLC_NAMES, fetch, Date.now).readVersions();
  };
  expect(await versionsIn(stranger)).toEqual([]);
  expect(await versionsIn(stranger, SOUND)).toEqual([SOUND.longVersion]);
});

test.each(['', '[]', 'null', '{}', '{"builds": {}}', '<html>'])('rejects %j as a list', (text) => {
  expect(() => parseCompilerList(Buffer.from(text))).toThrow(TypeError);
});

test.each([
  ['values', `{"builds":[${'[],'.repeat(100_000)}0]}`],
  ['levels', `{"builds":${'['.repeat(8)}${']'.repeat(8)}}`],
  ['escapes', `{"builds":[],"urls":"${'\\/'.repeat(100_001)}"}`],
])('rejects a list with too many %s', (_what, text) => {
  expect(() => parseCompilerList(Buffer.from(text))).toThrow(TypeError);
});
