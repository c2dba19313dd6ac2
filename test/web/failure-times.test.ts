import { describe, expect, test } from 'vitest';

import { createApi } from '../../web/src/api.ts';
import { recordFailure, type FailureTimes } from '../../src/lib/failure-times.ts';

const at = (minute: number): string => `2026-02-03T04:${String(minute).padStart(2, '0')}:00.000Z`;

describe('the start time of an outage', () => {
  test('is the first failure until a response succeeds', () => {
    const outages: FailureTimes = new Map();
    expect(recordFailure(outages, 'a', at(1), true)).toBe(at(1));
    expect(recordFailure(outages, 'a', at(5), true)).toBe(at(1));
    expect(recordFailure(outages, 'b', at(6), true)).toBe(at(6));
    recordFailure(outages, 'a', at(7), false);
    expect(recordFailure(outages, 'a', at(8), true)).toBe(at(8));
  });

  test('does not span a period without requests', () => {
    const outages: FailureTimes = new Map();
    recordFailure(outages, 'a', at(1), true);
    expect(recordFailure(outages, 'a', at(30), true)).toBe(at(30));
  });

  test('is kept for the most recently requested paths, with a limit', () => {
    const outages: FailureTimes = new Map();
    for (let path = 0; path < 5000; path += 1) recordFailure(outages, String(path), at(1), true);
    expect(outages.size).toBeLessThanOrEqual(1000);
    expect(recordFailure(outages, '4999', at(2), true)).toBe(at(1));
    expect(recordFailure(outages, '0', at(2), true)).toBe(at(2));
  });
});

describe('API response handling', () => {
  const failing = (response: () => Promise<Response>, outages: FailureTimes = new Map()) =>
    createApi(response, { timeoutMs: 20, outages }).get('v1/statistics');

  test('times out on a pending response', async () => {
    const loaded = await failing(() => new Promise(() => undefined));
    expect(loaded).toMatchObject({ state: 'failed', status: 0, code: 'late' });
    expect(loaded).toHaveProperty('message', 'The response took longer than 0.02 s.');
  });

  test('keeps the time of the first unusable response', async () => {
    const outages: FailureTimes = new Map([
      ['v1/statistics', { since: '2026-01-01T00:00:00Z', lastAt: new Date().toISOString() }],
    ]);
    const problem = { code: 'database_unreachable', detail: 'x' };
    const loaded = await failing(async () => Response.json(problem, { status: 503 }), outages);
    expect(loaded).toMatchObject({ ...{ state: 'failed', code: 'database_unreachable' } });
    expect(loaded).toHaveProperty('since', '2026-01-01T00:00:00Z');
    const html = await failing(async () => new Response('<html>'), outages);
    expect(html).toMatchObject({ code: 'no_answer', since: '2026-01-01T00:00:00Z' });
  });

  test('does not count an error response like 404 as an outage', async () => {
    const outages: FailureTimes = new Map();
    await failing(async () => Response.json({ code: 'chain_not_found' }, { status: 404 }), outages);
    expect(outages.size).toBe(0);
  });
});
