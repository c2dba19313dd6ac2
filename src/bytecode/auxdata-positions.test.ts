import { describe, expect, test } from 'vitest';
import { AUXDATA_FORMS } from '../../test/support/bytecode/made-up-code.ts';
import { findChangedAuxdatas, findAllOffsets, toPositions } from './auxdata-positions.ts';

const FIRST = 'a1'.repeat(32);
const SECOND = 'b2'.repeat(32);
const auxdata = (hash: string, form = '0.6.0'): string => AUXDATA_FORMS[form]?.(hash) ?? '';
const bytes = (...parts: readonly string[]): Buffer => Buffer.from(parts.join(''), 'hex');

describe('findChangedAuxdatas', () => {
  test.each(Object.keys(AUXDATA_FORMS).filter((form) => form !== 'hashless'))(
    'finds every auxdata that changed with the metadata: %s',
    (form) => {
      const code = (hash: string) =>
        bytes('6001', auxdata(hash, form), auxdata(hash, form), '6002');
      const length = auxdata(FIRST, form).length / 2;
      expect(findChangedAuxdatas(code(FIRST), code(SECOND))).toEqual([
        { start: 2, length },
        { start: 2 + length, length },
      ]);
    },
  );

  test('finds a hash whose first bytes happen to be unchanged', () => {
    const code = (hash: string) => bytes('6001', auxdata(hash));
    expect(findChangedAuxdatas(code(FIRST), code(`${FIRST.slice(0, 62)}ff`))).toEqual([
      { start: 2, length: 53 },
    ]);
  });

  test('skips an unchanged lookalike, such as a source constant', () => {
    const code = (hash: string) => bytes(auxdata(FIRST), auxdata(hash));
    expect(findChangedAuxdatas(code(FIRST), code(SECOND))).toEqual([{ start: 53, length: 53 }]);
  });

  test('finds none without changes', () => {
    expect(findChangedAuxdatas(bytes(auxdata(FIRST)), bytes(auxdata(FIRST)))).toEqual([]);
  });

  test.each<[string, Buffer, Buffer]>([
    ['codes of unequal length', bytes(auxdata(FIRST)), bytes(auxdata(SECOND), '00')],
    ['a difference in code', bytes('6001', auxdata(FIRST)), bytes('6002', auxdata(SECOND))],
    [
      'a difference behind the hash',
      bytes(auxdata(FIRST)),
      bytes(auxdata(SECOND).replace('430006', '430007')),
    ],
    ['a hash that no auxdata holds', bytes('6001', FIRST), bytes('6001', SECOND)],
    ['an auxdata in one code only', bytes(auxdata(FIRST)), bytes('60', auxdata(SECOND).slice(2))],
  ])('does not explain %s', (_what, code, edited) => {
    expect(findChangedAuxdatas(code, edited)).toBeUndefined();
  });

  test('returns nothing if one difference has two readings', () => {
    // An auxdata that starts inside the hash of another one, and whose own hash extends past the end of that
    // one.
    const start = 'a165627a7a72305820';
    const code = (byte: string, end: string) =>
      bytes(start, start, byte.repeat(23), '0029', '77'.repeat(7), end);
    expect(findChangedAuxdatas(code('01', '0029'), code('02', '0029'))).toBeUndefined();
    expect(findChangedAuxdatas(code('01', '0030'), code('02', '0030'))).toEqual([
      { start: 0, length: 43 },
    ]);
  });
});

describe('toPositions', () => {
  test('numbers auxdata by offset', () => {
    expect(
      toPositions(bytes('aabbcc'), [
        { start: 2, length: 1 },
        { start: 0, length: 2 },
      ]),
    ).toEqual({ '1': { offset: 0, value: '0xaabb' }, '2': { offset: 2, value: '0xcc' } });
  });
});

describe('occurrencesOf', () => {
  test('counts overlapping occurrences at byte boundaries', () => {
    expect(findAllOffsets(bytes('aaaa'), bytes('aaaaaa'))).toEqual([0, 1]);
    expect(findAllOffsets(bytes('aabb'), bytes('0aabb0'))).toEqual([]);
  });
});
