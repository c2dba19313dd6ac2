import { describe, expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';
import { parseRetryAfter } from './retry-after.ts';

const HOST = 'https://a.example:443';

function createBreaker(): { breaker: CircuitBreaker; clock: { now: number } } {
  const clock = { now: 1_000_000 };
  const breaker = new CircuitBreaker({
    failures: 3,
    backoffMs: 1000,
    maxBackoffMs: 8000,
    maxRetryAfterMs: 60_000,
    now: () => clock.now,
    random: () => 1,
  });
  return { breaker, clock };
}

function failTimes(breaker: CircuitBreaker, times: number): void {
  for (let index = 0; index < times; index += 1) breaker.enter(HOST)('failed');
}

describe('a circuit breaker', () => {
  test('lets a host rest after failures in a row', () => {
    const { breaker } = createBreaker();
    failTimes(breaker, 2);
    breaker.enter(HOST)('succeeded');
    failTimes(breaker, 3);
    expect(() => breaker.enter(HOST)).toThrow(
      expect.objectContaining({
        code: 'circuit_open',
        details: { origin: HOST, retryAfterMs: 1000 },
      }),
    );
  });

  test('keeps hosts apart', () => {
    const { breaker } = createBreaker();
    failTimes(breaker, 3);
    breaker.enter('https://b.example:443')('succeeded');
  });

  test('sends one request ahead after the rest, and lets all follow when it succeeds', () => {
    const { breaker, clock } = createBreaker();
    failTimes(breaker, 3);
    clock.now += 1000;
    const trial = breaker.enter(HOST);
    expect(() => breaker.enter(HOST)).toThrow(expect.objectContaining({ code: 'circuit_open' }));
    trial('succeeded');
    breaker.enter(HOST)('succeeded');
  });

  test('doubles the rest with each trial that fails, up to the longest', () => {
    const { breaker, clock } = createBreaker();
    failTimes(breaker, 3);
    const rests: number[] = [];
    for (let trial = 0; trial < 5; trial += 1) {
      let rest = 0;
      try {
        breaker.enter(HOST);
      } catch (error) {
        rest = (error as { details: { retryAfterMs: number } }).details.retryAfterMs;
      }
      rests.push(rest);
      clock.now += rest;
      breaker.enter(HOST)('failed');
    }
    expect(rests).toEqual([1000, 2000, 4000, 8000, 8000]);
  });

  test('tries again when the trial was ended by its caller', () => {
    const { breaker, clock } = createBreaker();
    failTimes(breaker, 3);
    clock.now += 1000;
    breaker.enter(HOST)('abandoned');
    breaker.enter(HOST)('succeeded');
  });

  test('counts requests that were under way when the rest began once', () => {
    const { breaker, clock } = createBreaker();
    const reports = Array.from({ length: 20 }, () => breaker.enter(HOST));
    for (const report of reports) report('failed');
    clock.now += 1000;
    breaker.enter(HOST)('succeeded');
  });

  test('leaves a host alone for as long as it asks, within bounds', () => {
    const { breaker, clock } = createBreaker();
    breaker.enter(HOST)('throttled', 5000);
    expect(() => breaker.enter(HOST)).toThrow(
      expect.objectContaining({ code: 'throttled', details: { origin: HOST, retryAfterMs: 5000 } }),
    );
    clock.now += 5000;
    breaker.enter(HOST)('throttled', 10 ** 12);
    clock.now += 60_000;
    breaker.enter(HOST)('throttled');
    expect(() => breaker.enter(HOST)).toThrow(expect.objectContaining({ code: 'throttled' }));
  });

  test('lets a probe through while a host rests after failures, and ends the rest when it succeeds', () => {
    const { breaker } = createBreaker();
    failTimes(breaker, 3);
    breaker.enter(HOST, true)('failed');
    expect(() => breaker.enter(HOST)).toThrow(expect.objectContaining({ code: 'circuit_open' }));
    breaker.enter(HOST, true)('succeeded');
    breaker.enter(HOST)('succeeded');
  });

  test('lets no probe through to a host that asked to be left alone', () => {
    const { breaker } = createBreaker();
    breaker.enter(HOST)('throttled', 5000);
    expect(() => breaker.enter(HOST, true)).toThrow(expect.objectContaining({ code: 'throttled' }));
  });

  test('takes only the first ending of a request', () => {
    const { breaker } = createBreaker();
    const report = breaker.enter(HOST);
    report('succeeded');
    for (let index = 0; index < 5; index += 1) report('failed');
    breaker.enter(HOST)('succeeded');
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  test('is seconds or a date', () => {
    expect(parseRetryAfter('120', now)).toBe(120_000);
    expect(parseRetryAfter(' 0 ', now)).toBe(0);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 23:59:00 GMT', now)).toBe(0);
  });

  test.each([undefined, '', '-1', '1.5', '1e9', 'soon', '99999999999', '2026-01-01', 'Infinity'])(
    'is nothing when it is %j',
    (value) => {
      expect(parseRetryAfter(value, now)).toBeUndefined();
    },
  );
});
