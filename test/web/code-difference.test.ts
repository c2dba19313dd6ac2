import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareCodes, differentRows } from '../../web/src/contract/code-difference.ts';

const LIMIT = 1000;
const code = fc
  .uint8Array({ maxLength: 120 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const stretches = fc.array(
  fc.record({
    reason: fc.constantFrom('library' as const, 'immutable' as const),
    offset: fc.nat(130),
    length: fc.nat(40),
  }),
  { maxLength: 3 },
);

describe('the difference of two codes', () => {
  test('is none where they are equal, in any case of the digits', () => {
    expect(compareCodes('0xABcd', '0xabCD', [], LIMIT)).toMatchObject({
      counts: new Map(),
      runs: [],
    });
    expect(differentRows('0xABcd', '0xabCD', [], LIMIT)).toEqual([]);
  });

  test('is told in runs, which are one where they lie close together', () => {
    const [left, right] = [`0x00${'11'.repeat(9)}0022`, `0x01${'11'.repeat(9)}0133`];
    const { runs, counts } = compareCodes(left, right, [], LIMIT);
    expect(runs).toEqual([
      { offset: 0, length: 1 },
      { offset: 10, length: 2 },
    ]);
    expect([...counts]).toEqual([['code', 3]]);
  });

  test('counts the bytes that only the longer code has', () => {
    expect(compareCodes('0x6001', '0x60016002', [], LIMIT)).toMatchObject({
      recompiledBytes: 2,
      onChainBytes: 4,
      counts: new Map([['code', 2]]),
      runs: [{ offset: 2, length: 2 }],
    });
    expect(compareCodes('0x', '0x', [], LIMIT).runCount).toBe(0);
  });

  test('keeps apart what may differ: rows are those of the code itself, where it differs', () => {
    const [left, right] = [`0x${'00'.repeat(64)}`, `0x${'11'.repeat(20)}${'00'.repeat(43)}22`];
    const immutable = { reason: 'immutable' as const, offset: 0, length: 32 };
    const { counts, runs } = compareCodes(left, right, [immutable], LIMIT);
    expect([...counts]).toEqual([
      ['immutable', 20],
      ['code', 1],
    ]);
    expect(runs).toEqual([{ offset: 63, length: 1 }]);
    const offsets = differentRows(left, right, [immutable], LIMIT).map(({ offset }) => offset);
    expect(offsets).toEqual([32, 48]);
    const all = { ...immutable, length: Infinity };
    expect(differentRows(left, right, [all], LIMIT)[0]?.offset).toBe(0);
  });

  test('counts each byte that differs at its place, once', () => {
    fc.assert(
      fc.property(code, code, stretches, (left, right, explained) => {
        const [a, b] = [Buffer.from(left.slice(2), 'hex'), Buffer.from(right.slice(2), 'hex')];
        const length = Math.max(a.length, b.length);
        const differing = Array.from({ length }, (_, at) => at).filter((at) => a[at] !== b[at]);
        const { counts, runs } = compareCodes(left, right, explained, LIMIT);
        const sum = [...counts.values()].reduce((total, count) => total + count, 0);
        expect(sum).toBe(differing.length);
        const isExplained = (at: number): boolean =>
          explained.some(({ offset, length: size }) => at >= offset && at < offset + size);
        const inRuns = (at: number): boolean =>
          runs.some(({ offset, length: size }) => at >= offset && at < offset + size);
        expect(differing.filter((at) => !isExplained(at)).every(inRuns)).toBe(true);
      }),
    );
  });

  test('is shown by rows that mark those bytes and no others', () => {
    fc.assert(
      fc.property(code, code, (left, right) => {
        const marked = differentRows(left, right, [], LIMIT).flatMap(({ recompiled, onChain }) =>
          recompiled.filter(({ kind }, index) => (kind ?? onChain[index]?.kind) !== undefined),
        );
        const { counts } = compareCodes(left, right, [], LIMIT);
        expect(marked).toHaveLength(counts.get('code') ?? 0);
      }),
    );
  });

  test('has a bound on its rows and runs', () => {
    const [left, right] = [`0x${'00ff'.repeat(20_000)}`, `0x${'0000'.repeat(20_000)}`];
    expect(differentRows(left, right, [], 10)).toHaveLength(10);
    expect(compareCodes(left, `0x${'11'.repeat(9)}`, [], 3).runs.length).toBeLessThanOrEqual(3);
  });
});
