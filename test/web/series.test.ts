import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChartScale } from '../../web/src/charts/axes.ts';
import { type Series } from '../../web/src/charts/series.ts';
import {
  describeChains,
  describeGrowth,
  describeMatches,
} from '../../web/src/statistics/describe.ts';
import { chainSeries, growthSeries, matchSeries, rank } from '../../web/src/statistics/series.ts';

const POINTS = [
  { date: '2026-02-01', full: 0, partial: 0, claimed: 0 },
  { date: '2026-02-02', full: 3, partial: 1, claimed: 0 },
  { date: '2026-02-03', full: 2, partial: 2, claimed: 0 },
];
const WITH_CLAIMS = POINTS.map((point, index) => ({ ...point, claimed: 10 * index }));

const valuesOf = (series: readonly Series[]): unknown => series.map(({ values }) => values);

describe('history series', () => {
  test('equal the counts', () => {
    expect(matchSeries(POINTS, 'linear').map(({ key }) => key)).toEqual(['full', 'partial']);
    expect(valuesOf(matchSeries(POINTS, 'linear'))).toEqual([
      [0, 3, 2],
      [0, 1, 2],
    ]);
  });

  test('show claims separately, if there are any', () => {
    expect(matchSeries(WITH_CLAIMS, 'linear').map(({ look }) => look)).toEqual([
      ...['full', 'partial', 'claimed'],
    ]);
    expect(valuesOf(matchSeries(WITH_CLAIMS, 'linear'))).toEqual([
      [0, 3, 2],
      [0, 1, 2],
      [0, 10, 20],
    ]);
    expect(valuesOf(growthSeries(WITH_CLAIMS))).toContainEqual([null, 10, 10]);
    // Neither shares nor sums per chain include claims.
    expect(valuesOf(matchSeries(WITH_CLAIMS, 'share'))).toEqual([[null, 75, 50]]);
    expect(valuesOf(chainSeries([{ name: 'One', points: WITH_CLAIMS }], 'linear'))).toEqual([
      [0, 4, 4],
    ]);
  });

  test('omit values that a scale cannot show', () => {
    expect(valuesOf(matchSeries(POINTS, 'log'))).toEqual([
      [null, 3, 2],
      [null, 1, 2],
    ]);
    expect(valuesOf(matchSeries(POINTS, 'share'))).toEqual([[null, 75, 50]]);
  });

  test('are one per chain, full and partial combined, plus one for the rest', () => {
    const histories = [
      { chainId: 10, name: 'Ten', points: POINTS },
      { name: 'the rest (3)', points: POINTS },
    ];
    expect(chainSeries(histories, 'linear')).toEqual([
      { key: '10', name: 'Ten', look: 'line-1', values: [0, 4, 4] },
      { key: 'rest', name: 'the rest (3)', look: 'rest', values: [0, 4, 4] },
    ]);
    expect(valuesOf(chainSeries(histories, 'share'))).toEqual([
      [null, 75, 50],
      [null, 75, 50],
    ]);
  });

  test('of growth show the change since the previous point, even if negative', () => {
    expect(valuesOf(growthSeries(POINTS))).toEqual([
      [null, 3, -1],
      [null, 1, 1],
    ]);
  });
});

describe('chart summaries', () => {
  const dates = POINTS.map(({ date }) => date);
  const tell = (series: readonly Series[], scale: ChartScale) => ({ dates, series, scale });

  test('give the first and last value of each line', () => {
    expect(describeMatches(tell(matchSeries(POINTS, 'linear'), 'linear'))).toBe(
      'From 2026-02-01 to 2026-02-03 full matches went from 0 to 2, partial from 0 to 2.',
    );
    expect(describeMatches(tell(matchSeries(WITH_CLAIMS, 'linear'), 'linear'))).toMatch(
      /, partial from 0 to 2, claims from 0 to 20\.$/,
    );
    expect(describeMatches(tell(matchSeries(POINTS, 'share'), 'share'))).toMatch(
      /from – to 50\.0%/,
    );
  });

  test('name the leading chain, never the rest', () => {
    const larger = POINTS.map(({ date }) => ({ date, full: 50, partial: 50, claimed: 0 }));
    const histories = [
      { chainId: 1, name: 'One', points: POINTS },
      { chainId: 10, name: 'Ten', points: POINTS.slice(0, 2) },
      { name: 'the rest (3)', points: larger },
    ];
    expect(describeChains(tell(chainSeries(histories, 'linear'), 'linear'))).toMatch(
      / One .* 0 to 4/,
    );
    expect(describeChains(tell([], 'linear'))).toMatch(/nothing/);
  });

  test('name the interval with the largest growth', () => {
    expect(describeGrowth(tell(growthSeries(POINTS), 'linear'))).toMatch(
      /ended on 2026-02-02: 4 new /,
    );
    expect(describeGrowth(tell(growthSeries(WITH_CLAIMS), 'linear'))).toMatch(/: 4 new verified /);
    expect(describeGrowth(tell(growthSeries(POINTS.slice(1)), 'linear'))).toMatch(/any interval/);
  });
});

describe('ranking', () => {
  test('puts verified contracts before claims, however many these are', () => {
    const entries = [
      { name: 'claims', full: 0, partial: 0, claimed: 1000 },
      { name: 'more claims', full: 0, partial: 0, claimed: 2000 },
      { name: 'one', full: 0, partial: 1, claimed: 0 },
    ];
    expect(rank(entries, 2).top.map(({ name }) => name)).toEqual(['one', 'more claims']);
    expect(rank(entries, 2).rest).toEqual({ count: 1, full: 0, partial: 0, claimed: 1000 });
  });

  test('puts the largest entries first and sums up to the total with the rest', () => {
    const entry = fc.record({
      full: fc.nat(50_000_000),
      partial: fc.nat(50_000_000),
      claimed: fc.nat(50_000_000),
    });
    fc.assert(
      fc.property(fc.array(entry), fc.integer({ min: 1, max: 20 }), (entries, limit) => {
        const { top, rest } = rank(entries, limit);
        expect(top.length + rest.count).toBe(entries.length);
        expect(top.length).toBeLessThanOrEqual(limit);
        for (const name of ['full', 'partial', 'claimed'] as const) {
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
