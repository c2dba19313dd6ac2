import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timeAxis, valueAxis } from '../../web/src/charts/axes.ts';
import {
  fallenSeries,
  joinWithdrawals,
  largestWithdrawal,
  nameWithdrawals,
} from '../../web/src/charts/join-withdrawals.ts';
import { layOut } from '../../web/src/charts/lay-out.ts';
import { placeLabels } from '../../web/src/charts/place-labels.ts';
import { stackBars } from '../../web/src/charts/series.ts';
import { POINTS_DRAWN, thinBars, thinLine } from '../../web/src/charts/thin.ts';

const DAY_MS = 86_400_000;
const dayOf = (number: number): string =>
  new Date(Date.UTC(2020, 0, 1) + number * DAY_MS).toISOString().slice(0, 10);
const daysFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => dayOf(first + index));
/** From zero to more than any service has. */
const count = fc.oneof(fc.constant(0), fc.nat(50_000_000), fc.nat(1e12));

describe('line end labels', () => {
  const heights = fc.array(fc.double({ min: 0, max: 288, noNaN: true }), { maxLength: 9 });

  test('never overlap, keep their order, and stay within the chart', () => {
    fc.assert(
      fc.property(heights, (wanted) => {
        const placed = placeLabels(wanted, 32, 310);
        const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!);
        const sorted = order.map((index) => placed[index]!);
        for (const [index, middle] of sorted.entries()) {
          expect(middle).toBeGreaterThanOrEqual(16 - 1e-9);
          expect(middle).toBeLessThanOrEqual(310 - 16 + 1e-9);
          if (index > 0) expect(middle - sorted[index - 1]!).toBeGreaterThanOrEqual(32 - 1e-9);
        }
      }),
    );
  });

  test('keep their positions when there is room', () => {
    expect(placeLabels([200, 40, 100], 32, 310)).toEqual([200, 40, 100]);
  });

  test('share the height when there are too many', () => {
    expect(placeLabels([0, 0, 0, 0], 32, 40)).toEqual([5, 15, 25, 35]);
  });
});

describe('the value axis', () => {
  test('contains all values and ticks in order, whatever the counts', () => {
    const scale = fc.constantFrom('linear', 'log');
    fc.assert(
      fc.property(fc.array(count, { minLength: 1 }), scale, fc.boolean(), (values, on, fit) => {
        const shown = on === 'log' ? values.filter((value) => value > 0) : values;
        const { place, ticks } = valueAxis(shown, on, 288, fit);
        for (const at of [...shown.map(place), ...ticks.map((tick) => tick.at)]) {
          expect(at).toBeGreaterThanOrEqual(0);
          expect(at).toBeLessThanOrEqual(288);
        }
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(10);
        expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
      }),
    );
  });

  const labels = (...given: Parameters<typeof valueAxis>): string[] =>
    valueAxis(...given).ticks.map(({ label }) => label.replace('\u00a0', ' '));
  test.each([
    [[0], ['0', '1']],
    [
      [0, 2],
      ['0', '1', '2'],
    ],
    [[45_000_000], ['0', '10 M', '20 M', '30 M', '40 M', '50 M']],
    [
      [-400, 900],
      ['-500', '0', '500', '1 k'],
    ],
  ])('divides %j into round numbers: %j', (values, expected) => {
    expect(labels(values, 'linear', 288)).toEqual(expected);
  });

  test('begins near the minimum if only the change matters', () => {
    expect(labels([45_000_000, 45_000_009], 'linear', 110, true)[0]).not.toBe('0');
  });

  test('uses powers of ten on a logarithmic scale, and quarters for shares', () => {
    expect(labels([3, 45_000_000], 'log', 288)).toEqual(['1', '100', '10 k', '1 M', '100 M']);
    expect(labels([], 'log', 288)).toEqual(['1', '10']);
    expect(labels([12], 'share', 288)).toEqual(['0%', '25%', '50%', '75%', '100%']);
  });
});

describe('the day axis', () => {
  test('keeps labels within it and few enough not to overlap', () => {
    fc.assert(
      fc.property(fc.nat(4000), fc.integer({ min: 1, max: 4000 }), (first, length) => {
        const { ticks } = timeAxis(daysFrom(first, length), 1000);
        for (const { at } of ticks) {
          expect(at).toBeGreaterThanOrEqual(0);
          expect(at).toBeLessThanOrEqual(1000);
        }
        expect(ticks.length).toBeLessThanOrEqual(17);
      }),
    );
  });

  test.each([
    [['2026-02-03'], ['3 Feb']],
    [
      ['2025-11-15', '2026-02-15'],
      ['16 Nov', '23 Nov', '30 Nov', '7 Dec', '14 Dec'],
    ],
    [
      ['2025-03-01', '2026-03-01'],
      ['Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct'],
    ],
    [
      ['2018-01-01', '2026-03-01'],
      ['2018', '2019', '2020', '2021', '2022', '2023', '2024'],
    ],
  ])('labels days at round dates: from %j at %j', (dates, expected) => {
    const labels = timeAxis(dates, 1000).ticks.map(({ label }) => label);
    expect(labels.slice(0, expected.length)).toEqual(expected);
  });
});

describe('withdrawal marks', () => {
  const withdrawal = fc.record({
    day: fc.nat(99),
    chainId: fc.integer({ min: 1, max: 9 }),
    full: fc.integer({ min: -9, max: 0 }),
    partial: fc.integer({ min: -9, max: 0 }),
    claimed: fc.integer({ min: -9, max: 0 }),
    reason: fc.constantFrom('a', 'b'),
  });

  test('include every withdrawal, are numbered from left to right, and do not overlap', () => {
    fc.assert(
      fc.property(fc.array(withdrawal), fc.integer({ min: 1, max: 30 }), (given, step) => {
        const withdrawals = given.map(({ day, ...rest }) => ({ date: dayOf(day), ...rest }));
        const dates = daysFrom(0, 100).filter((_, day) => (99 - day) % step === 0);
        const marks = joinWithdrawals(withdrawals, dates);
        const told = marks.flatMap((mark) => mark.withdrawals);
        expect(told).toHaveLength(withdrawals.length);
        expect(new Set(told)).toEqual(new Set(withdrawals));
        const times = marks.map(({ index }) => Date.parse(dates[index]!));
        const span = Date.parse(dates.at(-1)!) - Date.parse(dates[0]!);
        for (const [index, { number, withdrawals: joined }] of marks.entries()) {
          expect(number).toBe(index + 1);
          expect(joined.every(({ date }) => date <= dates.at(-1)!)).toBe(true);
          if (index > 0) expect(times[index]! - times[index - 1]!).toBeGreaterThan(span / 9);
        }
      }),
    );
  });

  test('lie on the series of the largest withdrawal and name its chain', () => {
    const [first, second] = [-3, -12].map((partial, index) => ({
      date: '2026-02-03',
      chainId: index + 1,
      full: 0,
      partial,
      claimed: 0,
      reason: 'a',
    }));
    const { withdrawals } = nameWithdrawals(
      { withdrawals: [first!, second!] },
      new Map([[2, 'Two']]),
    );
    const [mark] = joinWithdrawals(withdrawals, ['2026-02-03']);
    expect(largestWithdrawal(mark!)).toMatchObject({ chainId: 2, chainName: 'Two' });
  });

  test.each([
    [{ full: -1, partial: 0, claimed: 0 }, 'full'],
    [{ full: 0, partial: -1, claimed: 0 }, 'partial'],
    [{ full: -1, partial: 0, claimed: -9 }, 'claimed'],
  ] as const)('of %o lie on the series %s', (counts, series) => {
    const withdrawal = { date: '2026-02-03', chainId: 1, reason: 'a', ...counts };
    expect(fallenSeries(withdrawal)).toBe(series);
  });
});

describe('charts', () => {
  const seriesOf = (...rows: (number | null)[][]) =>
    rows.map((values, index) => ({ key: String(index), name: '', look: '', values }));

  test('stack increases above zero and decreases below it', () => {
    expect(stackBars(seriesOf([null, 3, -1], [null, 1, -2]))).toEqual([
      [null, [0, 3], [0, -1]],
      [null, [3, 4], [-1, -3]],
    ]);
  });

  test('find the nearest point from anywhere, even if there is only one', () => {
    const drawing = { series: seriesOf([1, 2, 3]), scale: 'linear', height: 100 } as const;
    const three = layOut({ ...drawing, dates: daysFrom(0, 3) });
    expect([-1, 0, 0.2, 0.3, 0.7, 0.8, 2].map(three.nearest)).toEqual([0, 0, 0, 1, 1, 2, 2]);
    const one = layOut({ ...drawing, series: seriesOf([1]), dates: daysFrom(0, 1) });
    expect([one.nearest(0), one.left(0)]).toEqual([0, '50.00%']);
    const bars = layOut({ ...drawing, as: 'bars', dates: daysFrom(0, 3) });
    expect([0, 1, 2].map(bars.left)).toEqual(['0.00%', '25.00%', '75.00%']);
  });

  test.each(['lines', 'bars'] as const)('draw %s without NaN or Infinity', (as) => {
    const rows = fc.integer({ min: 1, max: 40 }).chain((length) =>
      fc.array(fc.array(fc.option(count), { minLength: length, maxLength: length }), {
        minLength: 1,
        maxLength: 9,
      }),
    );
    fc.assert(
      fc.property(rows, fc.constantFrom('linear', 'log', 'share'), (values, scale) => {
        const series = seriesOf(...values).map((each) => ({
          ...each,
          values: each.values.map((value, index) =>
            (as === 'bars' && index === 0) || (scale === 'log' && value === 0) ? null : value,
          ),
        }));
        const dates = daysFrom(0, series[0]!.values.length);
        const { paths } = layOut({
          dates,
          series,
          scale: as === 'bars' ? 'linear' : scale,
          as,
          height: 288,
        });
        expect(paths.join('')).not.toMatch(/NaN|Infinity|undefined/);
      }),
    );
  });
});

describe('points of a long line', () => {
  const value = fc.option(fc.nat(1_000_000), { freq: 5 });

  test('are few, in order, and include the first, the last, the minimum and the maximum', () => {
    const long = fc.array(value, { minLength: 501, maxLength: 3_000, size: 'max' });
    fc.assert(
      fc.property(long, (values) => {
        const kept = thinLine(values);
        expect(kept.length).toBeLessThanOrEqual(POINTS_DRAWN);
        expect(kept).toEqual([...new Set(kept)].sort((left, right) => left - right));
        expect([kept[0], kept.at(-1)]).toEqual([0, values.length - 1]);
        const some = values.filter((each) => each !== null);
        const shown = kept.map((index) => values[index]!).filter((each) => each !== null);
        expect([Math.min(...shown), Math.max(...shown)]).toEqual([
          Math.min(...some),
          Math.max(...some),
        ]);
      }),
      { numRuns: 20 },
    );
    expect(thinLine([3, null, 1])).toEqual([0, 1, 2]);
  });

  test('for bars are the extremes of each interval, over its whole width', () => {
    const count = 4_000;
    const xs = Array.from({ length: count }, (_, index) => index);
    const spans = xs.map((index): [number, number] => [0, index === 1234 ? 99 : 1]);
    const [thinned] = thinBars([spans], xs);
    expect(thinned!.spans).toHaveLength(thinned!.places.length);
    expect(thinned!.spans.length).toBeLessThanOrEqual(POINTS_DRAWN);
    expect(thinned!.spans.filter((span) => span?.[1] === 99)).toHaveLength(1);
    expect([thinned!.places[0], thinned!.places.at(-1)]).toEqual([0, count - 1]);
  });
});
