import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rank, toLines, withGrowth } from '../../web/src/statistics/series.ts';

const POINTS = [
  { date: '2026-02-01', full: 0, partial: 0 },
  { date: '2026-02-02', full: 3, partial: 1 },
  { date: '2026-02-03', full: 2, partial: 2 },
];

describe('the lines of a history', () => {
  test('are the counts as they are', () => {
    expect(toLines(POINTS, 'linear')).toEqual([
      { name: 'full', values: [0, 3, 2] },
      { name: 'partial', values: [0, 1, 2] },
    ]);
  });

  test('leave out what a scale cannot show, in place of showing it as something', () => {
    expect(toLines(POINTS, 'log')[0]?.values).toEqual([null, 3, 2]);
    expect(toLines(POINTS, 'share')).toEqual([{ name: 'full', values: [null, 75, 50] }]);
  });

  test('grow by what came since the point before, also when counts fall', () => {
    expect(withGrowth(POINTS).map(({ change }) => change)).toEqual([
      null,
      { full: 3, partial: 1 },
      { full: -1, partial: 1 },
    ]);
  });
});

describe('the largest entries', () => {
  test('come first, and with the rest give the sum of all', () => {
    const entry = fc.record({ full: fc.nat(50_000_000), partial: fc.nat(50_000_000) });
    fc.assert(
      fc.property(fc.array(entry), fc.integer({ min: 1, max: 20 }), (entries, limit) => {
        const { top, rest } = rank(entries, limit);
        expect(top.length + rest.count).toBe(entries.length);
        expect(top.length).toBeLessThanOrEqual(limit);
        for (const name of ['full', 'partial'] as const) {
          const sum = (list: readonly Record<typeof name, number>[]): number =>
            list.reduce((total, each) => total + each[name], 0);
          expect(sum(top) + rest[name]).toBe(sum(entries));
        }
        const sizes = top.map(({ full, partial }) => full + partial);
        expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
      }),
    );
  });
});
