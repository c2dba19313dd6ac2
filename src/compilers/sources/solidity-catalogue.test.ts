import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SOLC_VERSIONS, solcPackageOf } from '../../../test/support/solc-packages.ts';
import { keccak256OfFile, sha256OfFile } from './file-digest.ts';
import { compareVersions } from '../compiler-version.ts';
import { findCatalogued, matchesCatalogue, SOLIDITY_CATALOGUE } from './solidity-catalogue.ts';

const SHA256 = /^[0-9a-f]{64}$/;

describe('the catalogue', () => {
  test('has every release from 0.4.11 to 0.8.37, once and in order', () => {
    const releases = SOLIDITY_CATALOGUE.map(({ longVersion }) => longVersion.split('+')[0] ?? '');
    expect(releases).toEqual([...new Set(releases)].sort(compareVersions));
    const last = { '0.4': 26, '0.5': 17, '0.6': 12, '0.7': 6, '0.8': 37 };
    const expected = Object.entries(last).flatMap(([minor, patch]) =>
      Array.from({ length: patch + 1 }, (_, index) => `${minor}.${index}`),
    );
    expect(releases).toEqual(expected.filter((release) => compareVersions(release, '0.4.11') >= 0));
  });

  test('has sound checksums', () => {
    for (const entry of SOLIDITY_CATALOGUE) {
      for (const digest of [entry.npmSha256, entry.sha256, entry.keccak256]) {
        if (digest !== undefined) expect(digest).toMatch(SHA256);
      }
      expect(entry.longVersion).toMatch(/^\d+\.\d+\.\d+\+commit\.[0-9a-f]{8}$/);
      expect(entry.npmVersion === undefined).toBe(entry.npmSha256 === undefined);
    }
  });

  test('takes the packages that hold what they say', () => {
    const npmVersionOf = (release: string): string | undefined =>
      SOLIDITY_CATALOGUE.find(({ longVersion }) => longVersion.startsWith(`${release}+`))
        ?.npmVersion;
    expect(npmVersionOf('0.8.7')).toBe('0.8.7-fixed');
    expect(npmVersionOf('0.8.14')).toBe('0.8.14-fixed');
    expect(npmVersionOf('0.8.23')).toBe('0.8.23-fixed');
    // npm's solc@0.8.1 holds 0.8.0, and 0.4.12 was never on npm.
    expect(npmVersionOf('0.8.1')).toBeUndefined();
    expect(npmVersionOf('0.4.12')).toBeUndefined();
  });

  test.each(SOLC_VERSIONS)('knows the installed file of %s', async (longVersion) => {
    const file = path.join(solcPackageOf(longVersion), 'soljson.js');
    const sha256 = await sha256OfFile(file);
    expect(sha256).toBe(findCatalogued(longVersion)?.npmSha256);
    expect(await matchesCatalogue(longVersion, { sha256, path: file })).toBe(true);
  });

  test('has the Keccak-256 of the same file as the SHA-256', async () => {
    const file = path.join(solcPackageOf('0.4.18+commit.9cf6e910'), 'soljson.js');
    expect(await keccak256OfFile(file)).toBe(findCatalogued('0.4.18+commit.9cf6e910')?.keccak256);
  });

  test('refuses one version for another', async () => {
    const file = path.join(solcPackageOf('0.4.18+commit.9cf6e910'), 'soljson.js');
    const sha256 = await sha256OfFile(file);
    const judge = (version: string): Promise<boolean | undefined> =>
      matchesCatalogue(version, { sha256, path: file });
    expect(await judge('0.4.24+commit.e67f0147')).toBe(false);
    // Only the Keccak-256 of 0.4.12 is known.
    expect(await judge('0.4.12+commit.194ff033')).toBe(false);
    expect(await judge('0.9.0+commit.00000000')).toBeUndefined();
  });
});

test('holds nothing of the compilers themselves', () => {
  const text = readFileSync(new URL('solidity-catalogue.ts', import.meta.url), 'utf8');
  expect(text.length).toBeLessThan(40_000);
});
