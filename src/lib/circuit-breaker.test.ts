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

describe('Circuit breaker', () => {
  test('opens after consecutive failures', () => {
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

  test('tracks hosts separately', () => {
    const { breaker } = createBreaker();
    failTimes(breaker, 3);
    breaker.enter('https://b.example:443')('succeeded');
  });

  test('sends one trial request after the pause and closes when it succeeds', () => {
    const { breaker, clock } = createBreaker();
    failTimes(breaker, 3);
    clock.now += 1000;
    const trial = breaker.enter(HOST);
    expect(() => breaker.enter(HOST)).toThrow(expect.objectContaining({ code: 'circuit_open' }));
    trial('succeeded');
    breaker.enter(HOST)('succeeded');
  });

  test('doubles the pause with each failed trial, up to the maximum', () => {
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

  test('allows another trial if the caller aborted the first', () => {
    const { breaker, clock } = createBreaker();
    failTimes(breaker, 3);
    clock.now += 1000;
    breaker.enter(HOST)('abandoned');
    breaker.enter(HOST)('succeeded');
  });

  test('counts requests pending at the time of opening once', () => {
    const { breaker, clock } = createBreaker();
    const reports = Array.from({ length: 20 }, () => breaker.enter(HOST));
    for (const report of reports) report('failed');
    clock.now += 1000;
    breaker.enter(HOST)('succeeded');
  });

  test('respects Retry-After within limits', () => {
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

  test('lets a probe through while open and closes when it succeeds', () => {
    const { breaker } = createBreaker();
    failTimes(breaker, 3);
    breaker.enter(HOST, true)('failed');
    expect(() => breaker.enter(HOST)).toThrow(expect.objectContaining({ code: 'circuit_open' }));
    breaker.enter(HOST, true)('succeeded');
    breaker.enter(HOST)('succeeded');
  });

  test('lets no probe through during Retry-After', () => {
    const { breaker } = createBreaker();
    breaker.enter(HOST)('throttled', 5000);
    expect(() => breaker.enter(HOST, true)).toThrow(expect.objectContaining({ code: 'throttled' }));
  });

  test('counts only the first outcome of a request', () => {
    const { breaker } = createBreaker();
    const report = breaker.enter(HOST);
    report('succeeded');
    for (let index = 0; index < 5; index += 1) report('failed');
    breaker.enter(HOST)('succeeded');
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  test('accepts seconds or a date', () => {
    expect(parseRetryAfter('120', now)).toBe(120_000);
    expect(parseRetryAfter(' 0 ', now)).toBe(0);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 23:59:00 GMT', now)).toBe(0);
  });

  test.each([undefined, '', '-1', '1.5', '1e9', 'soon', '99999999999', '2026-01-01', 'Infinity'])(
    'is ignored when it is %j',
    (value) => {
      expect(parseRetryAfter(value, now)).toBeUndefined();
    },
  );
});
