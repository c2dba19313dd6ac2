import { expect, test } from 'vitest';
import { groupByPath } from './library-id.ts';

test('groups libraries by path, which may contain colons or be absent', () => {
  const entries = [
    ['a.sol:L', 1],
    ['a.sol:M', 2],
    ['npm:b.sol:L', 3],
    ['L', 4],
    ['a.sol:L', 5],
    ['__proto__:__proto__', 6],
  ] as const;
  const grouped = groupByPath(entries);
  expect(Object.entries(grouped).map(([path, named]) => [path, Object.entries(named)])).toEqual([
    [
      'a.sol',
      [
        ['L', 5],
        ['M', 2],
      ],
    ],
    ['npm:b.sol', [['L', 3]]],
    ['', [['L', 4]]],
    ['__proto__', [['__proto__', 6]]],
  ]);
});

test('groups the libraries of one path in linear time', () => {
  // In quadratic time this would exceed the test's timeout.
  const count = 300_000;
  const entries = Array.from({ length: count }, (_, index) => [`a.sol:L${index}`, index] as const);
  expect(Object.keys(groupByPath(entries)['a.sol'] ?? {})).toHaveLength(count);
});
