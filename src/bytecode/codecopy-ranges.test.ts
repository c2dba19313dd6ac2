import { describe, expect, test } from 'vitest';
import { findCodecopyRanges } from './codecopy-ranges.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const hex = (found: readonly Uint8Array[]): string[] =>
  found.map((each) => Buffer.from(each).toString('hex'));
const RUNTIME = '6080604052600080fd5b600160005260206000f3fe00aabb';
const LENGTH = (RUNTIME.length / 2).toString(16).padStart(4, '0');

describe('Code copied by creation bytecode', () => {
  test('has the offset and length pushed before, in either order', () => {
    // PUSH2 length, DUP1, PUSH2 offset, PUSH1 0, CODECOPY, PUSH1 0, RETURN, INVALID
    const legacy = `61${LENGTH}8061000f6000396000f3fe00`;
    expect(hex(findCodecopyRanges(bytes(`${legacy}${RUNTIME}`)))).toContain(RUNTIME);
    // PUSH2 offset, PUSH2 length, SWAP1, PUSH1 0, CODECOPY
    const swapped = `61000e61${LENGTH}90600039006000f3fe`;
    const found = hex(findCodecopyRanges(bytes(`${swapped.slice(0, 28)}${RUNTIME}`)));
    expect(found).toContain(RUNTIME);
  });

  test('lies within the bytecode after the copy and is more than a single value', () => {
    expect(findCodecopyRanges(bytes(`61ffff8061000f600039${RUNTIME}`))).toEqual([]);
    expect(findCodecopyRanges(bytes(`6008806000600039${RUNTIME}`))).toEqual([]);
    expect(findCodecopyRanges(bytes(RUNTIME))).toEqual([]);
    expect(findCodecopyRanges(bytes('39'))).toEqual([]);
    expect(findCodecopyRanges(bytes('61ff'))).toEqual([]);
    expect(findCodecopyRanges(Buffer.alloc(0))).toEqual([]);
  });

  test('is limited to 12 results', () => {
    const copies = Array.from(
      { length: 200 },
      (_, index) => `61${(0x700 + index).toString(16).padStart(4, '0')}61010039`,
    ).join('');
    expect(findCodecopyRanges(bytes(copies + '00'.repeat(4000)))).toHaveLength(12);
  });

  test.each([
    [499, true],
    [500, false],
  ])('is found behind %d other copies: %s', (others, isFound) => {
    // Copies without operands of their own, then the copy of the runtime bytecode.
    const before = '39'.repeat(others);
    const place = (others + 15).toString(16).padStart(4, '0');
    const code = `${before}61${LENGTH}8061${place}6000396000f3fe00${RUNTIME}`;
    expect(hex(findCodecopyRanges(bytes(code))).includes(RUNTIME)).toBe(isFound);
  });
});
