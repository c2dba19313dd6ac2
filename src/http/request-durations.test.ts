import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestDurations } from './request-durations.ts';

const NAME = 'fullmatch_http_request_duration_seconds';
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30];

const requests = fc.array(
  fc.record({
    host: fc.constantFrom('api', 'repository'),
    route: fc.constantFrom('/chains', '/chains/{ref}', undefined),
    status: fc.constantFrom(200, 204, 304, 404, 503),
    seconds: fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 60, noNaN: true })),
  }),
);

test('request durations render exactly like a prom-client histogram', async () => {
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const [own, reference] = [new Registry(), new Registry()];
      const durations = new RequestDurations(own);
      const observers = {
        api: durations.observer('api'),
        repository: durations.observer('repository'),
      };
      const help = (await own.metrics()).match(/^# HELP \S+ (.*)$/m)?.[1] ?? '';
      const histogram = new Histogram({
        ...{ name: NAME, help, labelNames: ['host', 'route', 'status'], buckets: BUCKETS },
        registers: [reference],
      });
      for (const { host, route, status, seconds } of all) {
        observers[host](route, status, seconds);
        const labels = { host, route: route ?? 'none', status: `${Math.floor(status / 100)}xx` };
        histogram.observe(labels, seconds);
      }
      expect(await own.metrics()).toBe(await reference.metrics());
    }),
    { numRuns: 50 },
  );
});
