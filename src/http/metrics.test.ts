import { beforeAll, describe, expect, test } from 'vitest';

import { fixtureDependencies, healthyFacts } from '../../test/support/http-fixture.ts';
import { silentLogger } from '../log.ts';
import { composeHealth } from './health.ts';
import { type HttpDependencies } from './http-dependencies.ts';
import { createMetrics, createMetricsApp, type Metrics } from './metrics.ts';

let deps: HttpDependencies;
let metrics: Metrics;
beforeAll(async () => {
  deps = await fixtureDependencies();
  metrics = createMetrics(deps);
});

const samples = async (from: Metrics = metrics): Promise<string[]> =>
  (await from.render()).text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('Metrics', () => {
  test('count requests by host, route and status class', async () => {
    const observe = metrics.observer('api');
    observe('/chains', 200, 0.003);
    observe('/chains', 304, 0.0001);
    observe('/chains', 304, 0.0001);
    observe(undefined, 404, 0.001);
    metrics.observer('repository')('/stats.json', 200, 0.001);
    const name = 'fullmatch_http_request_duration_seconds_count';
    expect(await samples()).toEqual(
      expect.arrayContaining([
        `${name}{host="api",route="/chains",status="2xx"} 1`,
        `${name}{host="api",route="/chains",status="3xx"} 2`,
        `${name}{host="api",route="none",status="4xx"} 1`,
        `${name}{host="repository",route="/stats.json",status="2xx"} 1`,
      ]),
    );
  });

  test('report the values of the health report and the documents', async () => {
    const text = await samples();
    for (const line of [
      'fullmatch_info{version="1.2.3"} 1',
      'fullmatch_ready 1',
      'fullmatch_database_up 1',
      'fullmatch_chains{kind="all"} 4',
      'fullmatch_chains{kind="supported"} 2',
      'fullmatch_registry_findings{level="warning"} 1',
      'fullmatch_chain_list_stale 0',
      'fullmatch_contracts{match="full"} 3',
      'fullmatch_contracts{match="partial"} 9',
      'fullmatch_snapshot_swaps_total{document="statistics"} 1',
      'fullmatch_verification_jobs{state="queued"} 2',
      'fullmatch_verification_jobs{state="running"} 1',
      'fullmatch_verification_oldest_queued_age_seconds 7',
      'fullmatch_compilers{state="warm"} 2',
      'fullmatch_warm_compilers_bytes 400000000',
    ]) {
      expect(text).toContain(line);
    }
    expect(text.some((line) => line.startsWith('process_resident_memory_bytes'))).toBe(true);
  });

  test('reflect new publications', async () => {
    await deps.documents.publish({
      statistics: { bytes: Buffer.from('{}'), lastModified: new Date() },
    });
    const text = await samples();
    expect(text).toContain('fullmatch_snapshot_swaps_total{document="statistics"} 2');
    expect(text).toContain('fullmatch_snapshot_bytes{document="statistics",coding="identity"} 2');
  });

  test('omit samples for unknown values instead of reporting zero', async () => {
    const { now, startedAt, documents, stopping } = healthyFacts();
    const early = createMetrics({
      ...(await fixtureDependencies({ published: false })),
      health: () => composeHealth({ now, startedAt, documents, stopping }),
    });
    const text = await samples(early);
    for (const name of [
      'fullmatch_contracts',
      'fullmatch_chains',
      'fullmatch_database_up',
      'fullmatch_snapshot_bytes',
      'fullmatch_verification_jobs',
      'fullmatch_verification_oldest_queued_age_seconds',
      'fullmatch_compilers',
    ]) {
      expect(text.filter((line) => line.startsWith(name))).toEqual([]);
    }
  });

  test('count record cache hits, misses and bytes', async () => {
    const answers = { held: { ...deps.answers.held, hits: 5, misses: 2, cached: 1000 } };
    expect(await samples(createMetrics({ ...deps, answers }))).toEqual(
      expect.arrayContaining([
        'fullmatch_record_cache_look_ups_total{outcome="hit"} 5',
        'fullmatch_record_cache_look_ups_total{outcome="miss"} 2',
        'fullmatch_record_cache_bytes 1000',
      ]),
    );
  });

  test('are served at GET /metrics only, without CORS', async () => {
    const app = createMetricsApp(metrics, silentLogger);
    const response = await app.request('/metrics');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect((await app.request('/')).status).toBe(404);
    expect((await app.request('/metrics', { method: 'POST' })).status).toBe(405);
  });
});
