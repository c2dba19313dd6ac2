import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findDifference } from './find-difference.ts';

const code = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const find = (left: Uint8Array, right: Uint8Array): readonly number[] | undefined =>
  findDifference(left, right, [left.length, right.length]);

describe('The difference of two bytecodes', () => {
  test.each<[string, string, string, readonly number[] | undefined]>([
    ['none of equal codes', '6001 6002 01', '6001 6002 01', undefined],
    ['an operation', '6001 6002 01', '6001 6002 03', [2]],
    ['a number', '6001 6002 01', '6001 6005 01', [1]],
    ['the end of the recompiled code', '6001 6002 01 00', '6001 6002', [2]],
    ['the last one before more on chain', '6001 6002', '6001 6002 01', [1]],
    ['behind a jump to another offset', '6003 56 5b 01 00', '6004 56 00 5b 02 00', [3, 0]],
    [
      'behind two jumps',
      '6005 56 01 00 5b 6009 56 5b 03 00',
      '6006 56 01 02 00 5b 600a 56 5b 04 00',
      [8, 5, 0],
    ],
    ['not the offset of equal code', '6003 56 5b 01 00', '6004 56 00 5b 01 00', [2]],
    ['behind a block that falls through', '01 5b 02', '01 5b 03', [2]],
    ['not an immutable, which is zeros', '61 0000 50 01', '61 1234 50 02', [2]],
    ['in code that is not reached', '00 01', '00 02', [1]],
  ])('is %s', (_what, left, right, indexes) => {
    expect(find(code(left), code(right))).toEqual(indexes);
  });

  test('ignores data and metadata behind the given ends', () => {
    expect(findDifference(code('600101aa'), code('600101bb'), [3, 3])).toBeUndefined();
  });

  test('is found in a routine before code that only moved', () => {
    // Both jump over a number to a routine; ours adds where theirs subtracts, and the data moved.
    const ours = code('6004 56 fe 5b 01 00');
    const theirs = code('6006 56 fe fe fe 5b 03 00');
    expect(find(ours, theirs)).toEqual([4, 0]);
  });

  test('is absent for equal bytecodes and otherwise consists of existing instructions', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        expect(find(left, left)).toBeUndefined();
        for (const index of find(left, right) ?? []) {
          expect(index).toBeLessThan(Math.max(left.length, 1));
        }
      }),
    );
  });

  test('of code full of jump targets is found in bounded steps', () => {
    // Every pair of blocks differs from every other, so that only the limit ends the search.
    const blocks = Array.from(
      { length: 8_000 },
      (_, index) => `5b 61${((index * 7) % 24_000).toString(16).padStart(4, '0')} 50`,
    ).join('');
    const same = code(blocks);
    expect(find(same, same)).toBeUndefined();
  });
});
