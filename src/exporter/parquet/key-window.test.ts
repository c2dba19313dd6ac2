import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RowKey } from '../tables/read-table.ts';
import { idOf, KeyWindow } from './key-window.ts';

const keyOf = (number: number, version = '1'): RowKey => ({
  at: String(1_700_000_000_000_000 + number),
  key: String(number).padStart(20, '0'),
  version,
});
const sorted = (numbers: readonly number[]): number[] =>
  [...new Set(numbers)].sort((left, right) => left - right);
const inGroups = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
const numbers = fc.array(fc.nat(300), { maxLength: 100 }).map(sorted);

describe('KeyWindow', () => {
  test('finds the rows of each page that the file contains, and reads each row group at most once', async () => {
    await fc.assert(
      fc.asyncProperty(
        numbers,
        numbers,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        async (inFile, asked, groupRows, pageRows) => {
          const groups = inGroups(inFile, groupRows).map((group) => group.map((n) => keyOf(n)));
          let read = 0;
          const window = new KeyWindow(
            (async function* () {
              for (const group of groups) {
                read += 1;
                yield await Promise.resolve(group);
              }
            })(),
          );
          const found: number[] = [];
          for (const page of inGroups(asked, pageRows)) {
            const keys = page.map((n) => keyOf(n));
            const versions = await window.versionsOf(keys);
            found.push(...page.filter((n) => versions.get(idOf(keyOf(n))) === '1'));
          }
          expect(found).toEqual(asked.filter((n) => inFile.includes(n)));
          expect(read).toBeLessThanOrEqual(groups.length);
        },
      ),
    );
  });
});
