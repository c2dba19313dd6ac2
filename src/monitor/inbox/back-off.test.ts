import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backOffMs } from './back-off.ts';

const DAY_MS = 86_400_000;

test('the back-off grows with every attempt and ends', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true }), (isPassing, chance) => {
      const pauses: number[] = [];
      for (let tries = 1; ; tries += 1) {
        const pause = backOffMs(tries, isPassing, chance);
        if (pause === undefined) break;
        expect(pause).toBeGreaterThan(pauses.at(-1) ?? 0);
        pauses.push(pause);
      }
      expect(pauses.length).toBe(isPassing ? 12 : 10);
      const days = pauses.reduce((sum, pause) => sum + pause, 0) / DAY_MS;
      expect(days).toBeGreaterThan(50);
      expect(days).toBeLessThan(70);
    }),
  );
});

test('retries transient failures after seconds and missing sources after a minute', () => {
  expect(backOffMs(1, true, 0)).toBe(5000);
  expect(backOffMs(1, false, 0)).toBe(60_000);
});
