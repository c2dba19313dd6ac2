import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { mapInOrder } from './map-in-order.ts';

async function* each<T>(items: readonly T[], onEnd?: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    onEnd?.();
  }
}
async function pause(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await untilNextTurn();
}
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('mapInOrder', () => {
  test('preserves the order and respects the concurrency limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (pauses, concurrency) => {
          let running = 0;
          let most = 0;
          const results = mapInOrder(each(pauses), concurrency, async (turns) => {
            most = Math.max(most, (running += 1));
            await pause(turns);
            running -= 1;
            return turns;
          });
          expect(await collect(results)).toEqual(pauses);
          expect(most).toBeLessThanOrEqual(concurrency);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('throws a failure in its place, after earlier results, and closes the source', async () => {
    let closed = false;
    const seen: number[] = [];
    const results = mapInOrder(
      each([1, 2, 3, 4], () => (closed = true)),
      3,
      async (item) => {
        if (item === 3) throw new Error('three');
        return item;
      },
    );
    await expect(
      (async () => {
        for await (const item of results) seen.push(item);
      })(),
    ).rejects.toThrow('three');
    expect(seen).toEqual([1, 2]);
    expect(closed).toBe(true);
  });

  test('waits for pending work when the consumer stops early', async () => {
    let finished = 0;
    let closed = false;
    const results = mapInOrder(
      each([1, 2, 3], () => (closed = true)),
      3,
      async () => {
        await pause(2);
        finished += 1;
      },
    );
    await results.next();
    await results.return();
    expect([finished, closed]).toEqual([3, true]);
  });
});
