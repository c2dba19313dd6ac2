import { expect, test } from 'vitest';
import { RateMeter } from './import-progress.ts';

test('shows no rate before time has passed', () => {
  expect(new RateMeter(0).perSecond(0, 100)).toBe(0);
});

test('reports the rate of a steady run', () => {
  const meter = new RateMeter(0);
  for (let second = 1; second <= 100; second += 1) {
    expect(meter.perSecond(second * 1000, second * 50)).toBeCloseTo(50);
  }
});

test('forgets a fast start within a minute so that skipped entries do not distort the estimate', () => {
  const meter = new RateMeter(0);
  meter.perSecond(1000, 1_000_000);
  let rate = 0;
  for (let second = 2; second <= 60; second += 1) {
    rate = meter.perSecond(second * 1000, 1_000_000 + second * 10);
  }
  expect(rate).toBeCloseTo(10);
});
