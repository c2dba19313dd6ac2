import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SOLC_VERSIONS, solcPackageOf } from '../../../test/support/solc-packages.ts';
import { keccak256OfFile, sha256OfFile } from './file-digest.ts';
import { compareVersions, STANDARD_JSON_SINCE } from '../compiler-version.ts';
import { findCatalogued, isPinned, SOLIDITY_CATALOGUE } from './solidity-catalogue.ts';

const SHA256 = /^[0-9a-f]{64}$/;

describe('Solidity catalogue', () => {
  test('contains every release from 0.1.3 to 0.8.37 once, in order', () => {
    const releases = SOLIDITY_CATALOGUE.map(({ longVersion }) => longVersion.split('+')[0] ?? '');
    expect(releases).toEqual([...new Set(releases)].sort(compareVersions));
    const last = {
      '0.1': 7,
      '0.2': 2,
      '0.3': 6,
      '0.4': 26,
      '0.5': 17,
      '0.6': 12,
      '0.7': 6,
      '0.8': 37,
    };
    const expected = Object.entries(last).flatMap(([minor, patch]) =>
      Array.from({ length: patch + 1 }, (_, index) => `${minor}.${index}`),
    );
    expect(releases).toEqual(expected.filter((release) => compareVersions(release, '0.1.3') >= 0));
  });

  test('contains well-formed checksums', () => {
    for (const entry of SOLIDITY_CATALOGUE) {
      for (const digest of [entry.npmSha256, entry.sha256, entry.keccak256, entry.nativeSha256]) {
        if (digest !== undefined) expect(digest).toMatch(SHA256);
      }
      expect(entry.longVersion).toMatch(/^\d+\.\d+\.\d+\+commit\.[0-9a-f]{8}$/);
      expect(entry.npmVersion === undefined).toBe(entry.npmSha256 === undefined);
    }
  });

  test('pins the official builds of both kinds for nearly all releases', () => {
    const without = (name: 'sha256' | 'nativeSha256'): readonly string[] =>
      SOLIDITY_CATALOGUE.filter((entry) => entry[name] === undefined).map(
        ({ longVersion }) => longVersion.split('+')[0] ?? '',
      );
    const unknown = ['26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36'];
    const newer = unknown.map((patch) => `0.8.${patch}`);
    expect(without('sha256')).toEqual(newer);
    const isOld = (release: string): boolean => compareVersions(release, STANDARD_JSON_SINCE) < 0;
    // Native builds are used from the first release with standard JSON.
    expect(SOLIDITY_CATALOGUE.filter(({ longVersion }) => isOld(longVersion))).toHaveLength(26);
    const withStandardJson = without('nativeSha256').filter((release) => !isOld(release));
    // These three were rebuilt: the native build has the commit of the second build, soljson that of both.
    expect(withStandardJson).toEqual(['0.4.15', '0.5.9', '0.5.11', ...newer, '0.8.37']);
  });

  test('lists only packages that contain their stated version', () => {
    const npmVersionOf = (release: string): string | undefined =>
      SOLIDITY_CATALOGUE.find(({ longVersion }) => longVersion.startsWith(`${release}+`))
        ?.npmVersion;
    expect(npmVersionOf('0.8.7')).toBe('0.8.7-fixed');
    expect(npmVersionOf('0.8.14')).toBe('0.8.14-fixed');
    expect(npmVersionOf('0.8.23')).toBe('0.8.23-fixed');
    // npm's solc@0.8.1 contains 0.8.0, and 0.4.12 was never on npm.
    expect(npmVersionOf('0.8.1')).toBeUndefined();
    expect(npmVersionOf('0.4.12')).toBeUndefined();
  });

  test.each(SOLC_VERSIONS)(
    'contains the checksum of the installed file of %s',
    async (longVersion) => {
      const file = path.join(solcPackageOf(longVersion), 'soljson.js');
      const sha256 = await sha256OfFile(file);
      expect(sha256).toBe(findCatalogued(longVersion)?.npmSha256);
      expect(await isPinned(longVersion, 'soljson', { sha256, path: file })).toBe(true);
    },
  );

  test('contains the Keccak-256 and SHA-256 of the same file', async () => {
    const file = path.join(solcPackageOf('0.4.18+commit.9cf6e910'), 'soljson.js');
    expect(await keccak256OfFile(file)).toBe(findCatalogued('0.4.18+commit.9cf6e910')?.keccak256);
  });

  test('rejects the file of another version', async () => {
    const file = path.join(solcPackageOf('0.4.18+commit.9cf6e910'), 'soljson.js');
    const sha256 = await sha256OfFile(file);
    const judge = (version: string): Promise<boolean | undefined> =>
      isPinned(version, 'soljson', { sha256, path: file });
    expect(await judge('0.4.24+commit.e67f0147')).toBe(false);
    expect(await judge('0.4.12+commit.194ff033')).toBe(false);
    expect(await judge('0.9.0+commit.00000000')).toBeUndefined();
  });
});

test('the catalogue module does not contain the compilers themselves', () => {
  const text = readFileSync(new URL('solidity-catalogue.ts', import.meta.url), 'utf8');
  expect(text.length).toBeLessThan(40_000);
});
