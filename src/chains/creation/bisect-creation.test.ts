import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bisectCreation, type CodeState } from './bisect-creation.ts';

/** A chain whose node keeps states from `keptFrom` on; the code exists from the start to the end of each range. */
function chainOf(ranges: readonly (readonly [number, number])[], keptFrom = 0) {
  const asked: number[] = [];
  const stateAt = (block: number): CodeState => {
    if (block < keptFrom) return 'unavailable';
    return ranges.some(([from, to]) => block >= from && block <= to) ? 'same' : 'other';
  };
  const read = async (block: number): Promise<CodeState> => {
    asked.push(block);
    return stateAt(block);
  };
  return { read, asked, stateAt };
}

const heads = fc.integer({ min: 0, max: 400_000_000 });

describe('Creation block', () => {
  test('is the first block with code, found with few requests', async () => {
    await fc.assert(
      fc.asyncProperty(heads, fc.double({ min: 0, max: 1, noNaN: true }), async (head, share) => {
        const created = Math.floor(head * share);
        const { read, asked } = chainOf([[created, head]]);
        expect(await bisectCreation(head, read)).toBe(created === 0 ? 'at_genesis' : created);
        expect(asked.length).toBeLessThanOrEqual(29 + 6);
        expect(asked.every((block) => block >= 0 && block < head)).toBe(true);
      }),
    );
  });

  test('is found on a pruned node if it is later than the oldest retained state', async () => {
    await fc.assert(
      fc.asyncProperty(heads, heads, heads, async (...numbers) => {
        const [keptFrom, created, head] = numbers.sort((a, b) => a - b);
        const { read } = chainOf([[created, head]], keptFrom);
        const expected = created === 0 ? 'at_genesis' : created;
        expect(await bisectCreation(head, read)).toBe(
          created === keptFrom && created > 0 ? 'no_archive' : expected,
        );
      }),
    );
  });

  test('is always preceded by a block without code, however often it was recreated', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(lengths, async (parts) => {
        const ranges: [number, number][] = [];
        let at = 1;
        for (const [index, length] of parts.entries()) {
          if (index % 2 === 0) ranges.push([at, at + length - 1]);
          at += length;
        }
        const head = at;
        ranges.push([ranges.at(-1)?.[0] ?? 1, head]);
        const { read, stateAt } = chainOf(ranges);
        const block = await bisectCreation(head, read);
        expect(typeof block).toBe('number');
        expect(stateAt(Number(block))).toBe('same');
        expect(stateAt(Number(block) - 1)).toBe('other');
      }),
    );
  });

  test('is the latest one after a long absence of the contract', async () => {
    const { read } = chainOf([
      [100, 4_000],
      [7_000, 10_000],
    ]);
    expect(await bisectCreation(10_000, read)).toBe(7_000);
    const early = chainOf([
      [1, 6_000],
      [9_000, 10_000],
    ]);
    expect(await bisectCreation(10_000, early.read)).toBe(9_000);
  });

  test('rejects with the error of the read', async () => {
    const fault = new Error('away');
    await expect(bisectCreation(9, () => Promise.reject(fault))).rejects.toBe(fault);
  });
});
