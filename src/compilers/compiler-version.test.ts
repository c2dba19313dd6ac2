import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../errors.ts';
import {
  compareVersions,
  findVersion,
  nearestVersions,
  unknownVersion,
} from './compiler-version.ts';
import { SOLIDITY_CATALOGUE } from './sources/solidity-catalogue.ts';
import { SOLC } from './toolchains/solc.ts';

const KNOWN = SOLIDITY_CATALOGUE.map(({ longVersion }) => longVersion);
const NIGHTLY = '0.8.38-nightly.2026.9.25+commit.a31bd568';

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof FullmatchError ? error.code : String(error);
  }
}

describe('Version lookup', () => {
  test('accepts every notation of a version', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KNOWN),
        fc.constantFrom('', 'v', 'V'),
        fc.integer({ min: 6, max: 8 }),
        fc.constantFrom('', '.Emscripten.clang', '.Linux.g++', '.mod.Darwin.appleclang'),
        (version, prefix, digits, platform) => {
          const [release, build] = version.split('+');
          const commit = (build ?? '').slice('commit.'.length, 'commit.'.length + digits);
          expect(findVersion(`${prefix}${String(release)}`, KNOWN)).toBe(version);
          expect(findVersion(`${prefix}${version}${platform}`, KNOWN)).toBe(version);
          expect(findVersion(`${prefix}${String(release)}+commit.${commit}`, KNOWN)).toBe(version);
        },
      ),
    );
  });

  test('finds none for a different commit', () => {
    expect(findVersion('0.8.30+commit.deadbeef', KNOWN)).toBeUndefined();
    expect(unknownVersion(SOLC, '0.8.30+commit.deadbeef', KNOWN).details['nearest']).toEqual([
      '0.8.30+commit.73712a01',
    ]);
  });

  test('accepts a nightly only if it is listed', () => {
    expect(findVersion(NIGHTLY, KNOWN)).toBeUndefined();
    expect(unknownVersion(SOLC, NIGHTLY, KNOWN).code).toBe('unsupported_compiler_version');
    expect(findVersion(`v${NIGHTLY}`, [...KNOWN, NIGHTLY])).toBe(NIGHTLY);
    expect(findVersion('0.8.38', [...KNOWN, NIGHTLY])).toBeUndefined();
  });

  test.each([
    ...['', 'latest', '0.8', '0.8.x', '^0.8.0', '0.8.30+', '0.8.30+commit.', '0.8.30+commit.xyz'],
    ...['0.8.30 ', ' 0.8.30', '0.8.30\n', '0.8.30+commit.73712a01/../..', '../0.8.30', '00.8.30-'],
    ...['0.8.30+commit.7371', '0.99999.1', `0.8.30+commit.${'a'.repeat(41)}`, 'v'.repeat(1e5)],
  ])('rejects %j as malformed', (text) => {
    expect(codeOf(() => findVersion(text, KNOWN))).toBe('invalid_compiler_version');
  });

  test('returns a known version, nothing or invalid_compiler_version for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let found: string | undefined;
        const code = codeOf(() => (found = findVersion(text, KNOWN)));
        if (code !== undefined) expect(code).toBe('invalid_compiler_version');
        else expect(found === undefined || KNOWN.includes(found)).toBe(true);
      }),
    );
  });
});

describe('Unknown version', () => {
  test('is reported with the nearest ones', () => {
    const { code, details } = unknownVersion(SOLC, '0.8.99', KNOWN);
    expect(code).toBe('unsupported_compiler_version');
    expect(details['nearest']).toEqual(KNOWN.slice(-3));
    expect(nearestVersions('0.4.27', KNOWN)).toContain('0.4.26+commit.4563c3fc');
  });

  test('older than every supported release is reported as unsupported', () => {
    const error = unknownVersion(SOLC, '0.1.2', KNOWN);
    expect(error.code).toBe('unsupported_compiler_version');
    expect(error.details['nearest']).toContain('0.1.3+commit.028f561d');
  });
});

test('orders versions numerically, not alphabetically', () => {
  expect(['0.8.9', '0.8.10', '0.10.0', '0.9.0'].sort(compareVersions)).toEqual([
    '0.8.9',
    '0.8.10',
    '0.9.0',
    '0.10.0',
  ]);
});
