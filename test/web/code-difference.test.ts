import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareCodes, differentRows } from '../../web/src/contract/code-difference.ts';

const code = fc
  .uint8Array({ maxLength: 120 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);

describe('the difference of two codes', () => {
  test('is none where they are equal, in any case of the digits', () => {
    expect(compareCodes('0xABcd', '0xabCD')).toMatchObject({ differentBytes: 0, runs: [] });
    expect(differentRows('0xABcd', '0xabCD')).toEqual([]);
  });

  test('is told in runs, which are one where they lie close together', () => {
    const { runs, differentBytes } = compareCodes(
      `0x00${'11'.repeat(9)}0022`,
      `0x01${'11'.repeat(9)}0133`,
    );
    expect(runs).toEqual([
      { offset: 0, length: 1 },
      { offset: 10, length: 2 },
    ]);
    expect(differentBytes).toBe(3);
  });

  test('counts the bytes that only the longer code has', () => {
    expect(compareCodes('0x6001', '0x60016002')).toMatchObject({
      recompiledBytes: 2,
      onChainBytes: 4,
      differentBytes: 2,
      runs: [{ offset: 2, length: 2 }],
    });
    expect(compareCodes('0x', '0x')).toMatchObject({ differentBytes: 0, runCount: 0 });
  });

  test('counts each byte that differs at its place', () => {
    fc.assert(
      fc.property(code, code, (left, right) => {
        const [a, b] = [Buffer.from(left.slice(2), 'hex'), Buffer.from(right.slice(2), 'hex')];
        const length = Math.max(a.length, b.length);
        const differing = Array.from({ length }, (_, at) => at).filter((at) => a[at] !== b[at]);
        const { differentBytes, runs } = compareCodes(left, right);
        expect(differentBytes).toBe(differing.length);
        const inRuns = (at: number): boolean =>
          runs.some(({ offset, length: size }) => at >= offset && at < offset + size);
        expect(differing.every(inRuns)).toBe(true);
      }),
    );
  });

  test('is shown by rows that mark those bytes and no others', () => {
    fc.assert(
      fc.property(code, code, (left, right) => {
        const marked = differentRows(left, right).flatMap(({ offset, recompiled, onChain }) =>
          recompiled.flatMap(({ differs }, index) =>
            differs || (onChain[index]?.differs ?? false) ? [offset + index] : [],
          ),
        );
        expect(marked).toHaveLength(compareCodes(left, right).differentBytes);
      }),
    );
  });

  test('has a bound on its rows and runs', () => {
    const [left, right] = [`0x${'00ff'.repeat(20_000)}`, `0x${'0000'.repeat(20_000)}`];
    expect(differentRows(left, right, 10)).toHaveLength(10);
    expect(compareCodes(left, `0x${'11'.repeat(9)}`, 3).runs.length).toBeLessThanOrEqual(3);
  });
});
