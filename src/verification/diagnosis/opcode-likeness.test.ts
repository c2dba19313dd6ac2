import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { opcodeLikenessTo } from './opcode-likeness.ts';

const opcodeLikeness = (left: Uint8Array, right: Uint8Array): number =>
  opcodeLikenessTo(right)(left);

const code = fc.uint8Array({ minLength: 40, maxLength: 300 });

describe('Likeness of opcodes', () => {
  test('is symmetric, and 1 for equal code', () => {
    fc.assert(
      fc.property(code, code, (left, right) => {
        expect(opcodeLikeness(left, left)).toBeCloseTo(1);
        expect(opcodeLikeness(left, right)).toBeCloseTo(opcodeLikeness(right, left));
      }),
    );
  });

  test('changes little with an insertion that moves jump targets', () => {
    // PUSH2 target, JUMPI, ADD, MUL, again and again; the targets of the second are one byte further.
    const codeWith = (shift: number): number[] =>
      Array.from({ length: 40 }, (_, at) => [
        0x61,
        0x01,
        at + shift,
        0x57,
        0x01,
        0x02,
        at % 2,
      ]).flat();
    const [before, after] = [codeWith(0), codeWith(1)];
    const inserted = Uint8Array.from([...after.slice(0, 70), 0x50, ...after.slice(70)]);
    expect(opcodeLikeness(Uint8Array.from(before), inserted)).toBeGreaterThan(0.9);
  });

  test('is 0 for other opcodes', () => {
    const [ones, twos] = [1, 2].map((opcode) => new Uint8Array(50).fill(opcode));
    expect(opcodeLikeness(ones ?? new Uint8Array(), twos ?? new Uint8Array())).toBe(0);
  });
});
