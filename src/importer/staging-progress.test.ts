import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StagingMeter } from './staging-progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('estimates the time left by the bytes that are still to be read', () => {
  const [first, second, third] = ['a', 'b', 'c'].map((path) => ({ path, bytes: 1_000 }));
  const meter = new StagingMeter([first!, second!, third!]);
  // Read by an earlier import: less is left, and no rate comes of it.
  expect(meter.endFile(first!, true)).toEqual({
    ...{ files: 1, allFiles: 3, rows: 0, rowsPerSecond: 0 },
  });
  vi.setSystemTime(10_000);
  expect(meter.addRows(second!, 500, 0.5)).toEqual({
    ...{ files: 1, allFiles: 3, rows: 500, rowsPerSecond: 50, secondsLeft: 30 },
  });
  vi.setSystemTime(20_000);
  meter.addRows(second!, 500, 0.5);
  expect(meter.endFile(second!, false)).toEqual({
    ...{ files: 2, allFiles: 3, rows: 1_000, rowsPerSecond: 50, secondsLeft: 20 },
  });
});
