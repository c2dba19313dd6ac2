import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canDestroyItself } from './destroyable-code.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('Bytecode that may self-destruct', () => {
  test.each([
    ['SELFDESTRUCT', '33ff', true],
    ['DELEGATECALL', '5f5f5f5f335af4', true],
    ['CALLCODE', '5f5f5f5f5f335af2', true],
    ['a delegation designator', `ef0100${'11'.repeat(20)}`, true],
    ['nothing of the kind', '6001600055', false],
    ['no code', '', false],
    ['the opcodes as data only', `7f${'fff4f2'.repeat(11).slice(0, 64)}50`, false],
    ['an opcode behind data', `61fff4ff`, true],
    ['data that the code ends in', '62ff', false],
  ])('is detected in %s: %s', (_what, hex, expected) => {
    expect(canDestroyItself(bytes(hex))).toBe(expected);
  });

  test('is detected behind any complete instructions', () => {
    const instruction = fc.oneof(
      fc.integer({ min: 0, max: 0x5f }).map((opcode) => Buffer.of(opcode)),
      fc
        .tuple(fc.integer({ min: 1, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
        .map(([length, data]) =>
          Buffer.concat([Buffer.of(0x5f + length), data.subarray(0, length)]),
        ),
    );
    fc.assert(
      fc.property(fc.array(instruction), (instructions) => {
        const code = Buffer.concat(instructions);
        expect(canDestroyItself(code)).toBe(false);
        expect(canDestroyItself(Buffer.concat([code, Buffer.of(0xff)]))).toBe(true);
      }),
    );
  });
});
