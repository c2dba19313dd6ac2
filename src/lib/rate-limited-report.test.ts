import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RateLimitedReport } from './rate-limited-report.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('logs the first occurrence at once and the rest together every ten seconds', () => {
  const said: number[] = [];
  const line = new RateLimitedReport((count) => said.push(count));
  for (let index = 0; index < 5_000; index += 1) line.count();
  expect(said).toEqual([1]);
  vi.advanceTimersByTime(10_000);
  expect(said).toEqual([1, 4_999]);
  vi.advanceTimersByTime(20_000);
  expect(said).toEqual([1, 4_999]);
  line.count();
  line.count();
  line.close();
  vi.advanceTimersByTime(20_000);
  expect(said).toEqual([1, 4_999, 1]);
});
