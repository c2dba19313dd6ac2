import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addLatency, type Latencies, NO_LATENCIES, reportLatency } from './latency.ts';
import { DailyBudget, REQUESTS_PER_PROBE, spacingMs, untilNextDay } from './probe-schedule.ts';

const DAY_MS = 86_400_000;

describe('Time to the next probe', () => {
  const usual = { everyMs: 60_000, dailyBudget: 5000, endpointsOfHost: 1, undecided: false };

  test('is the configured interval, plus or minus a quarter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (chance) => {
        const wait = spacingMs({ ...usual, chance });
        expect(wait).toBeGreaterThanOrEqual(45_000);
        expect(wait).toBeLessThanOrEqual(75_000);
      }),
    );
  });

  test('is shorter while the state is undecided', () => {
    expect(spacingMs({ ...usual, undecided: true, chance: 0.5 })).toBe(15_000);
  });

  test("makes a host's budget last the day", () => {
    const many = fc.record({
      everyMs: fc.integer({ min: 1000, max: DAY_MS }),
      dailyBudget: fc.integer({ min: 10, max: 100_000 }),
      endpointsOfHost: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(many, (input) => {
        const wait = spacingMs({ ...input, undecided: false, chance: 0.5 });
        const requests = (DAY_MS / wait) * REQUESTS_PER_PROBE * input.endpointsOfHost;
        expect(requests).toBeLessThanOrEqual(input.dailyBudget * 1.000001);
      }),
    );
  });
});

describe('Budget of a host', () => {
  test('is reduced by its own requests only and resets each day', () => {
    const budget = new DailyBudget(3);
    const now = 5 * DAY_MS + 1000;
    expect([1, 2, 3, 4].map(() => budget.take('a', now))).toEqual([true, true, true, false]);
    expect(budget.left('a', now)).toBe(0);
    expect(budget.left('b', now)).toBe(3);
    expect(budget.take('a', now + untilNextDay(now) - 1)).toBe(false);
    expect(budget.take('a', now + untilNextDay(now))).toBe(true);
  });
});

describe('Latency', () => {
  const after = (values: readonly number[]): Latencies => values.reduce(addLatency, NO_LATENCIES);

  test('omits the first response, which includes connecting', () => {
    expect(reportLatency(after([900]))).toBeUndefined();
    expect(reportLatency(after([900, 10]))).toEqual({ p50Ms: 10, p95Ms: 10, samples: 1 });
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(reportLatency(after([900, ...hundred]))).toEqual({ p50Ms: 50, p95Ms: 95, samples: 100 });
  });

  test('covers the latest hundred responses', () => {
    const values = [...Array<number>(500).fill(1000), ...Array<number>(100).fill(5)];
    expect(reportLatency(after(values))).toEqual({ p50Ms: 5, p95Ms: 5, samples: 100 });
  });

  test('lies between the minimum and the maximum', () => {
    const values = fc.array(fc.nat(60_000), { minLength: 2, maxLength: 200 });
    fc.assert(
      fc.property(values, (all) => {
        const report = reportLatency(after(all))!;
        const kept = all.slice(1).slice(-100);
        expect(kept).toContain(report.p50Ms);
        expect(kept).toContain(report.p95Ms);
        expect(report.p50Ms).toBeLessThanOrEqual(report.p95Ms);
      }),
    );
  });
});
