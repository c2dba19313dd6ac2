import { expect, test } from 'vitest';
import { groupByPath } from './library-id.ts';

test('groups libraries by their paths, which may hold colons or be absent', () => {
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

test('groups 50,000 libraries of one path in time', () => {
  const entries = Array.from({ length: 50_000 }, (_, index) => [`a.sol:L${index}`, index] as const);
  const startedAt = performance.now();
  expect(Object.keys(groupByPath(entries)['a.sol'] ?? {})).toHaveLength(50_000);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
