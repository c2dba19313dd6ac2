import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { chooseCoding, CODINGS, parseAcceptEncoding } from './content-coding.ts';

const LENGTHS = { identity: 1000, gzip: 300, br: 250 };
const WITHOUT_BR = { identity: 1000, gzip: 300 };

const choose = (field: string | undefined, lengths: typeof LENGTHS | typeof WITHOUT_BR = LENGTHS) =>
  chooseCoding(parseAcceptEncoding(field), lengths);

describe('Content coding of a response', () => {
  test.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0.1, gzip;q=0.01', 'br'],
    ['identity', 'identity'],
    ['identity;q=0.5, gzip;q=0.4', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, br;q=0', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['*;q=0, identity', 'identity'],
    ['gzip, identity;q=0, *;q=0', 'gzip'],
    ['zstd, deflate', 'identity'],
    ['zstd, identity;q=0', undefined],
    ['gzip ; q=0.5 , br ; q=0.4', 'gzip'],
    ['gzip;q=2', 'identity'],
    ['gzip;q=0.1234', 'identity'],
    ['gzip;level=9', 'identity'],
    [',,gzip,,', 'gzip'],
  ])('for %j is %j', (field, coding) => {
    expect(choose(field)).toBe(coding);
  });

  test('is gzip for clients that accept br while no br body exists', () => {
    expect(choose('gzip, br', WITHOUT_BR)).toBe('gzip');
    expect(choose('br', WITHOUT_BR)).toBe('identity');
    expect(choose('br, identity;q=0', WITHOUT_BR)).toBeUndefined();
  });

  test('is never refused by the client, and always defined while identity is acceptable', () => {
    const weight = fc.constantFrom('', ';q=0', ';q=0.0', ';q=0.3', ';q=1', ';q=0.999');
    const member = fc.tuple(fc.constantFrom('identity', 'gzip', 'br', '*', 'zstd'), weight);
    fc.assert(
      fc.property(fc.uniqueArray(member, { selector: ([coding]) => coding }), (members) => {
        const named = new Map<string, string>(members);
        const refuses = (coding: string): boolean => {
          const own = named.get(coding) ?? named.get('*');
          return own === undefined ? coding !== 'identity' : /^;q=0(\.0)?$/.test(own);
        };
        const chosen = choose(members.map((parts) => parts.join('')).join(', '));
        if (chosen === undefined) expect(CODINGS.every(refuses)).toBe(true);
        else expect(refuses(chosen)).toBe(false);
      }),
    );
  });

  test('stays correct beyond the number of cached headers', () => {
    for (let index = 0; index < 500; index += 1) expect(choose(`x-${index}, gzip`)).toBe('gzip');
    expect(choose('br')).toBe('br');
  });

  test('is chosen in linear time for a long hostile header', () => {
    // In quadratic time this would exceed the test's timeout.
    expect(choose(`${'gzip;q=0.'.repeat(400_000)},${' '.repeat(1_000_000)},;;;;`)).toBe('identity');
  });
});
