import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findUsedRemappings } from './used-remappings.ts';

const isUsed = (sources: Readonly<Record<string, string>>, remapping: string): boolean =>
  findUsedRemappings({ remappings: [remapping], sources }).length === 1;

test.each([
  ['contracts/=AUDITED/'],
  [':contracts/=AUDITED/'],
  [':contracts/=lib/'],
  ['AUDITED:@lib/=lib/'],
  ['@lib/=AUDITED/'],
  ['audited/=lib/'],
  ['text/=lib/'],
])('drops the remapping %s, which resolves no import', (remapping) => {
  const content = 'import "@lib/a.sol"; string constant S = "text/a.sol"; // "audited/a.sol"';
  expect(isUsed({ 'contracts/T.sol': content, 'lib/a.sol': '' }, remapping)).toBe(false);
});

test.each([
  ['@lib/=lib/'],
  ['contracts/:@lib/=lib/'],
  ['contracts/old/=lib/'],
  [':@lib/='],
  ['@=li=b/'],
])('keeps the remapping %s, which resolves an import', (remapping) => {
  const content = 'import "@lib/a.sol"; import "./old/a.sol";';
  const sources = {
    'contracts/T.sol': content,
    'lib/a.sol': '',
    'a.sol': '',
    'li=b/lib/a.sol': '',
  };
  expect(isUsed(sources, remapping)).toBe(true);
});

test.each([
  String.raw`import "\x40lib/a.sol";`,
  String.raw`import "\u0040lib/a.sol";`,
  'import "@lib\\\n/a.sol";',
  "import'@lib/a.sol';",
  'import /* "x"; */ // ;\n "@lib/a.sol";',
  'import {A as B} from "@lib/a.sol";',
  'import * as A from"@lib/a.sol";',
  'import "@lib/a.sol" as A;',
  `import hex"${Buffer.from('@lib/a.sol').toString('hex')}";`,
  '/* import "x"; */ string constant S = "import"; import "@lib/a.sol";',
])('reads the import %s', (content) => {
  expect(isUsed({ 'T.sol': content, 'lib/a.sol': '' }, '@lib/=lib/')).toBe(true);
});

// Paths that solc 0.4.11, 0.5.17, 0.6.12, 0.8.4 and 0.8.37 look up.
test.each([
  ['x.sol', '../../y.sol', 'y.sol'],
  ['a/x.sol', './/c//y.sol', 'a/c/y.sol'],
  ['a//x.sol', './c/../y.sol', 'a/y.sol'],
  ['a///b//x.sol', '../y.sol', 'a/y.sol'],
  ['a/../b/x.sol', '../y.sol', 'a/../y.sol'],
  ['./x.sol', './y.sol', './y.sol'],
  ['../x.sol', '../y.sol', 'y.sol'],
  ['/x.sol', '../y.sol', 'y.sol'],
  ['/x.sol', './y.sol', '/y.sol'],
  ['/a/x.sol', '../../y.sol', 'y.sol'],
  ['https://h.io/p/x.sol', '../y.sol', 'https://h.io/y.sol'],
  ['a/x.sol', '.y.sol', '.y.sol'],
])('from %s resolves the import %s to %s', (path, imported, led) => {
  const sources = { [path]: `import "${imported}";`, 'lib.sol': '' };
  expect(isUsed(sources, `:${led}=lib.sol`)).toBe(true);
});

describe('For any submission', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '/', '.', '"', '\\', 'x', '\n'),
    maxLength: 8,
  });

  test('keeps remappings of imports, and none longer than paths may be', () => {
    fc.assert(
      fc.property(text, text, text, text, (context, prefix, target, rest) => {
        const path = `${context}T.sol`;
        const sources = {
          [path]: `import ${JSON.stringify(`@${prefix}${rest}`)};`,
          [`${target}${rest}`]: '',
        };
        fc.pre(path !== `${target}${rest}`);
        const remapping = `${context}:@${prefix}=${target}`;
        expect(isUsed(sources, remapping)).toBe(true);
        expect(isUsed(sources, `AUDITED ${remapping}`)).toBe(false);
        expect(isUsed(sources, `${remapping}AUDITED`)).toBe(false);
      }),
    );
  });

  test.each([
    ['long paths', 'a/'.repeat(990), 14_000, 999],
    ['many of both', 'T', 100_000, 20_000],
    ['a path that climbs and descends', `${'a/'.repeat(8_000)}T`, 10_000, 10],
  ])('does bounded work for %s', (_, path, imports, remappings) => {
    const content = Array.from({ length: imports }, (_, index) => `import "./x${index}";`).join('');
    const started = performance.now();
    const named = Array.from({ length: remappings }, (_, index) => `a/a/z${index}=b`);
    expect(findUsedRemappings({ remappings: named, sources: { [path]: content } })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('handles many remappings and imports quickly', () => {
    const remappings = Array.from({ length: 1000 }, (_, index) => `used${index}/=A`);
    const content = 'import "used999/a.sol";'.padEnd(2_000_000, '/**/');
    const started = performance.now();
    expect(findUsedRemappings({ remappings, sources: { T: content, 'Aa.sol': '' } })).toEqual([
      'used999/=A',
    ]);
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});
