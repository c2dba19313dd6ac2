import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import {
  isComplete,
  buildFailureRecord,
  WINDOWS_MAX_BYTES,
  completeBytecodes,
} from './failure-record.ts';

const codeOf = (bytes: number, value = 0x60): Hex => bytesToHex(Buffer.alloc(bytes, value));

/** Returns a bytecode with one byte changed. */
function changed(code: Hex, offset: number): Hex {
  const at = 2 + 2 * offset;
  return `0x${code.slice(2, at)}ff${code.slice(at + 2)}`;
}

describe('Failure record', () => {
  test("contains small bytecodes in full under the API's names", () => {
    const codes = {
      recompiledRuntimeCode: codeOf(10),
      onchainRuntimeCode: codeOf(12),
      recompiledCreationCode: codeOf(14),
    };
    const record = buildFailureRecord({ data: { a: 1 }, codes });
    expect(record.data).toEqual({ a: 1 });
    expect(completeBytecodes(record)).toEqual(codes);
    expect(record.runtime?.onChain).toMatchObject({
      bytes: 12,
      sha256: `0x${createHash('sha256').update(Buffer.alloc(12, 0x60)).digest('hex')}`,
    });
  });

  test('contains a window around the first difference of large bytecodes', () => {
    const size = fc.integer({ min: 40_000, max: 300_000 });
    fc.assert(
      fc.property(size, size, fc.nat(39_999), (left, right, at) => {
        const recompiled = codeOf(left);
        const onChain = changed(codeOf(right), at);
        const codes = { recompiledRuntimeCode: recompiled, onchainRuntimeCode: onChain };
        const { runtime } = buildFailureRecord({ data: {}, codes });
        if (runtime?.recompiled === undefined || runtime.onChain === undefined) throw new Error();
        const { offset } = runtime;
        const windows = [runtime.recompiled.window, runtime.onChain.window] as const;
        expect(windows.join('').length - 4).toBeLessThanOrEqual(2 * WINDOWS_MAX_BYTES);
        expect(runtime.recompiled.bytes).toBe(left);
        const digits = windows.map((window) => window.slice(2 + 2 * (at - offset)).slice(0, 2));
        expect(digits).toEqual(['60', 'ff']);
        expect(isComplete(runtime.recompiled) && isComplete(runtime.onChain)).toBe(
          left + right <= WINDOWS_MAX_BYTES,
        );
      }),
      { numRuns: 30 },
    );
  });

  test('stays small for any bytecodes and details', () => {
    const large = codeOf(1_000_000);
    const codes = {
      recompiledRuntimeCode: large,
      onchainRuntimeCode: changed(large, 999_999),
      recompiledCreationCode: large,
      onchainCreationCode: changed(large, 0),
    };
    const explained = countItems(
      Array.from({ length: 30_000 }, (_, index) => ({
        reason: 'immutable',
        offset: 33 * index,
        length: 32,
      })),
    );
    const errors = countItems(Array.from({ length: 5000 }, () => 'y'.repeat(100_000)));
    const tree = Array.from({ length: 400 }, () =>
      Array.from({ length: 400 }, () => 'x'.repeat(9)),
    );
    const data = {
      runtime: { firstDifference: 999_999, explained: explained.items },
      compilerErrors: errors.items,
      tree,
      last: 'fact',
    };
    const record = buildFailureRecord({ data, codes });
    // A list may be very long: it is read once, or only up to the limit.
    expect(explained.reads()).toBeLessThanOrEqual(30_000);
    expect(errors.reads()).toBeLessThanOrEqual(500);
    expect(JSON.stringify(record).length).toBeLessThan(2 * WINDOWS_MAX_BYTES + 80_000);
    expect(record.runtime?.offset).toBeGreaterThan(900_000);
    expect(completeBytecodes(record)).toEqual({});
  });
});

/** Wraps a list and counts the reads of its items. */
function countItems<T>(list: readonly T[]): { items: readonly T[]; reads: () => number } {
  let reads = 0;
  const items = new Proxy(list, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  return { items, reads: () => reads };
}
