import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstDifferingInstruction } from './first-differing-instruction.ts';

const code = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const first = (left: Uint8Array, right: Uint8Array): number | undefined =>
  firstDifferingInstruction(left, right, [left.length, right.length]);

describe('First differing instruction of two bytecodes', () => {
  test.each<[string, string, string, number | undefined]>([
    ['none of equal codes', '6001 6002 01', '6001 6002 01', undefined],
    ['an operation', '6001 6002 01', '6001 6002 03', 2],
    ['a number', '6001 6002 01', '6001 6005 01', 1],
    ['the end of the recompiled code', '6001 6002 01 00', '6001 6002', 2],
    ['the last one before more on chain', '6001 6002', '6001 6002 01', 1],
    ['behind places that moved', '6003 56 5b 00', '6004 56 00 5b', 2],
    ['not a jump to another place', '6004 56 5b 5b 00', '6003 56 5b 5b 01', 4],
    ['not an immutable, which is zeros', '61 0000 50 01', '61 1234 50 02', 2],
  ])('is %s', (_what, left, right, index) => {
    expect(first(code(left), code(right))).toBe(index);
  });

  test('ignores data and metadata behind the given ends', () => {
    expect(firstDifferingInstruction(code('600101aa'), code('600101bb'), [3, 3])).toBeUndefined();
  });

  test('is absent for equal bytecodes and otherwise an existing instruction', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        expect(first(left, left)).toBeUndefined();
        const index = first(left, right);
        if (index !== undefined) expect(index).toBeLessThanOrEqual(Math.max(left.length, 1));
      }),
    );
  });
});
