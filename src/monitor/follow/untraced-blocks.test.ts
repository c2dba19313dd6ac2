import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql } from '../../store/database.ts';
import { recordUntracedBlocks } from './untraced-blocks.ts';

const LIST = sql(
  'test list untraced blocks',
  'SELECT first_block, last_block FROM monitor_untraced_blocks WHERE chain_id = $1 ORDER BY first_block',
);
const FORGET = sql('test forget untraced blocks', 'DELETE FROM monitor_untraced_blocks');
const CHAIN_ID = 5;

let store: TestDatabase;
beforeAll(async () => {
  store = await createTestDatabase({ poolSize: 1 });
});
afterAll(() => store.drop());

/** Blocks that were read one after the other, and whether each was traced. */
const reading = fc.record({
  first: fc.nat(40),
  traced: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
});

/** The fewest spans of consecutive numbers. */
function spansOf(numbers: ReadonlySet<number>): { first_block: string; last_block: string }[] {
  return [...numbers]
    .filter((number) => !numbers.has(number - 1))
    .toSorted((left, right) => left - right)
    .map((first) => {
      let last = first;
      while (numbers.has(last + 1)) last += 1;
      return { first_block: String(first), last_block: String(last) };
    });
}

describe('Untraced blocks', () => {
  test('are those of the last reading of each block, in the fewest spans', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reading, { maxLength: 8 }), async (readings) => {
        await store.database.query(FORGET);
        const untraced = new Set<number>();
        for (const { first, traced } of readings) {
          const numbers = traced.flatMap((isTraced, at) => (isTraced ? [] : [first + at]));
          traced.forEach((_, at) => untraced.delete(first + at));
          numbers.forEach((number) => untraced.add(number));
          await store.database.transaction((transaction) => {
            const read = { first, last: first + traced.length - 1 };
            return recordUntracedBlocks(transaction, CHAIN_ID, read, numbers);
          });
        }
        expect(await store.database.query(LIST, [CHAIN_ID])).toEqual(spansOf(untraced));
      }),
      { numRuns: 50 },
    );
  });

  test('of another chain are left alone', async () => {
    await store.database.query(FORGET);
    const read = { first: 1, last: 3 };
    await recordUntracedBlocks(store.database, CHAIN_ID, read, [2]);
    await recordUntracedBlocks(store.database, CHAIN_ID + 1, read, []);
    expect(await store.database.query(LIST, [CHAIN_ID])).toEqual([
      { first_block: '2', last_block: '2' },
    ]);
  });
});
