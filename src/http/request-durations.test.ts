import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { addRequestDurations } from './request-durations.ts';

const NAME = 'fullmatch_http_request_duration_seconds';

test('request durations are counted by host, route and status class', async () => {
  const registry = new Registry();
  const observerOf = addRequestDurations(registry);
  const observe = observerOf('api');
  observe('/chains', 200, 0.0005);
  observe('/chains', 204, 0.02);
  observe('/chains', 304, 60);
  observe(undefined, 404, 0);
  observerOf('repository')('/chains', 200, 1);
  const text = await registry.metrics();
  const bucket = (labels: string, le: string): string | undefined =>
    new RegExp(`^${NAME}_bucket\\{le="${le}",${labels}\\} (\\d+)$`, 'm').exec(text)?.[1];
  const ofStatus = 'host="api",route="/chains",status="2xx"';
  expect(['0.0005', '0.01', '0.025', '30', '\\+Inf'].map((le) => bucket(ofStatus, le))).toEqual([
    '1',
    '1',
    '2',
    '2',
    '2',
  ]);
  const ofSlow = 'host="api",route="/chains",status="3xx"';
  expect([bucket(ofSlow, '30'), bucket(ofSlow, '\\+Inf')]).toEqual(['0', '1']);
  expect(text.split('\n').filter((line) => /_(sum|count)\{/.test(line))).toEqual([
    `${NAME}_sum{host="api",route="/chains",status="2xx"} 0.0205`,
    `${NAME}_count{host="api",route="/chains",status="2xx"} 2`,
    `${NAME}_sum{host="api",route="/chains",status="3xx"} 60`,
    `${NAME}_count{host="api",route="/chains",status="3xx"} 1`,
    `${NAME}_sum{host="api",route="none",status="4xx"} 0`,
    `${NAME}_count{host="api",route="none",status="4xx"} 1`,
    `${NAME}_sum{host="repository",route="/chains",status="2xx"} 1`,
    `${NAME}_count{host="repository",route="/chains",status="2xx"} 1`,
  ]);
});
