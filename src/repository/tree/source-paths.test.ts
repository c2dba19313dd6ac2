import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findSourceName, mapSourcePaths } from './source-paths.ts';

const hostileNames = JSON.parse(
  readFileSync(
    new URL('../../../test/cases/import/hostile-source-names.json', import.meta.url),
    'utf8',
  ),
) as string[];

const part = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'b',
    '_',
    '@',
    ':',
    '.',
    '..',
    '',
    ' ',
    '__proto__',
    '_renamed',
    'x.html',
    'é',
    'e\u0301',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const name = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/')),
  fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  fc.constantFrom(...hostileNames),
  fc.string({ unit: 'binary', minLength: 900, maxLength: 5000 }),
);
const names = fc.uniqueArray(name, { maxLength: 12 });

const climbs = (path: string): boolean =>
  path.startsWith('/') ||
  path.split('/').some((segment) => ['', '.', '..'].includes(segment) || segment.length > 200);

describe('Source paths', () => {
  test('are relative and safe for disks and terminals', () => {
    fc.assert(
      fc.property(names, (each) => {
        for (const path of mapSourcePaths(each).values()) {
          expect(climbs(path)).toBe(false);
          expect(path).not.toMatch(/[\\\p{C}<>"|?*%#]/u);
          expect(path.normalize('NFC')).toBe(path);
          expect(Buffer.byteLength(path)).toBeLessThanOrEqual(1000);
        }
      }),
    );
  });

  test('differ in more than case, and none is a folder of another', () => {
    fc.assert(
      fc.property(names, (each) => {
        const paths = [...mapSourcePaths(each).values()].map((path) => path.toLowerCase());
        expect(new Set(paths).size).toBe(each.length);
        for (const path of paths) {
          expect(paths.some((other) => other.startsWith(`${path}/`))).toBe(false);
        }
      }),
    );
  });

  test('map back to their names, regardless of the order of the names', () => {
    fc.assert(
      fc.property(names, (each) => {
        const paths = mapSourcePaths(each);
        expect([...mapSourcePaths([...each].reverse())].reverse()).toEqual([...paths]);
        for (const [own, path] of paths) expect(findSourceName(paths, path)).toBe(own);
      }),
    );
  });

  test('never resolve an ambiguous spelling', () => {
    fc.assert(
      fc.property(names, name, (each, asked) => {
        const found = findSourceName(mapSourcePaths(each), asked);
        const meant = each.filter((own) => own === asked || own.replace(/[@:]/g, '_') === asked);
        const isPath = [...mapSourcePaths(each).values()].includes(asked);
        if (!isPath) expect(found).toBe(meant.length === 1 ? meant[0] : undefined);
      }),
    );
  });

  test.each([
    'contracts/Token.sol',
    '@openzeppelin/contracts/token/ERC20/ERC20.sol',
    'project:/src/Grüße an alle.sol',
    '__proto__',
    'x.html',
    'a..b/c',
  ])('preserve the plain name %s', (plain) => {
    expect(mapSourcePaths([plain]).get(plain)).toBe(plain);
  });

  test.each(['CON', 'aux.sol', 'a/NUL/b.sol', 'com1', 'lpt9.sol', 'COM¹.sol'])(
    'avoid Windows device names: %s',
    (name) => {
      expect(mapSourcePaths([name]).get(name)).toMatch(/^_renamed\//);
    },
  );

  test('may be requested with _ in place of @ and :', () => {
    const paths = mapSourcePaths(['@lib/a.sol', 'https://github.com/b.sol']);
    expect(findSourceName(paths, '_lib/a.sol')).toBe('@lib/a.sol');
    expect(findSourceName(paths, 'https_//github.com/b.sol')).toBe('https://github.com/b.sol');
  });

  test('rename both of two names that share a spelling, which then resolves to neither', () => {
    const paths = mapSourcePaths(['a@b.sol', 'a_b.sol']);
    expect([...paths.values()].every((path) => path.startsWith('_renamed/'))).toBe(true);
    expect(findSourceName(paths, 'a_b.sol')).toBeUndefined();
    expect(findSourceName(paths, 'a@b.sol')).toBe('a@b.sol');
  });

  test("cannot be taken by a source named like another's renamed path", () => {
    const taken = mapSourcePaths(['../x.sol']).get('../x.sol') ?? '';
    const paths = mapSourcePaths(['../x.sol', taken]);
    expect(paths.get('../x.sol')).toBe(taken);
    expect(findSourceName(paths, taken)).toBe('../x.sol');
  });

  test('keep a source file extension, and no other', () => {
    expect(mapSourcePaths(['../x.sol']).get('../x.sol')).toMatch(/^_renamed\/[0-9a-f]{64}\.sol$/);
    expect(mapSourcePaths(['../x.html']).get('../x.html')).toMatch(/^_renamed\/[0-9a-f]{64}$/);
  });
});

test('renames very long names and detects conflicts between short names and folders', () => {
  const long = Array.from({ length: 30 }, (_, index) => `${'a/'.repeat(500_000)}${index}.sol`);
  const paths = mapSourcePaths([...long, 'b', 'b/c.sol', 'a']);
  for (const name of long) expect(paths.get(name)).toMatch(/^_renamed\/[0-9a-f]{64}\.sol$/);
  expect(paths.get('a')).toMatch(/^_renamed/);
  expect(paths.get('b')).toMatch(/^_renamed/);
  expect(paths.get('b/c.sol')).toBe('b/c.sol');
});
