import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import { type ChainHealth } from '../chains/health/chain-health.ts';
import { makeResponse, NOT_STORED } from './answer.ts';
import { type Documents } from '../publication/documents.ts';
import { addEndpointMetrics } from './endpoint-metrics.ts';
import { type HealthReport } from './health-schema.ts';
import { createHostApp, createRoutes, type HostApp } from './host-app.ts';
import { addJobMetrics, addQueueMetrics } from './job-metrics.ts';
import { addMonitorMetrics, addMonitorRequests } from './monitor-metrics.ts';
import { type MonitorReports } from '../monitor/monitor-report.ts';
import { type RecordResponder } from './records/record-responder.ts';
import { createReportGauges, secondsSince } from './report-gauge.ts';
import { addRequestDurations, type RequestObserver } from './request-durations.ts';
import { type Logger } from '../log.ts';
import { type Verification } from '../verification/verification.ts';

/** Prometheus metrics of one service. */
export interface Metrics {
  /** Returns the observer of a host's finished responses (`observe` in the listener's options). */
  observer(host: 'api' | 'repository'): RequestObserver;
  /** Renders the body of GET /metrics, with its content type. */
  render(): Promise<{ text: string; contentType: string }>;
}

/**
 * Creates the metrics of a service on a registry of their own. Everything except the request metrics is read
 * from the service on each scrape, so it cannot drift from what the service reports elsewhere.
 */
export function createMetrics(sources: {
  /** Absent, like `answers`, if nothing is served. */
  readonly documents?: Documents;
  readonly health: () => HealthReport;
  readonly verification: Pick<Verification, 'onJobEnd' | 'waiters'>;
  readonly chainHealth: Pick<ChainHealth, 'reports'>;
  readonly monitors: Pick<MonitorReports, 'reports'>;
  /** Requests of this process's monitor; absent if none runs. */
  readonly monitorRequests?: { readonly granted: number; readonly refused: number };
  readonly answers?: Pick<RecordResponder, 'held'>;
  readonly version: string;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'fullmatch_info',
    help: 'Version of the service',
    labelNames: ['version'],
    registers,
  })
    .labels(sources.version)
    .set(1);
  if (sources.documents !== undefined) addDocumentMetrics(registers, sources.documents);
  if (sources.answers !== undefined) addRecordMetrics(registers, sources.answers);
  addHealthMetrics(registers, sources.health);
  addQueueMetrics(registers, sources.health);
  addJobMetrics(registers, sources.verification);
  addEndpointMetrics(registers, sources.chainHealth.reports);
  addMonitorMetrics(registers, () => sources.monitors.reports());
  if (sources.monitorRequests) addMonitorRequests(registers, sources.monitorRequests);
  return {
    observer: addRequestDurations(registry),
    render: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}

function addDocumentMetrics(registers: Registry[], documents: Documents): void {
  const names = ['chains', 'statistics'] as const;
  new Counter({
    name: 'fullmatch_snapshot_swaps_total',
    help: 'Changes of the content of a published document',
    labelNames: ['document'],
    registers,
    collect() {
      this.reset();
      for (const document of names) this.inc({ document }, documents.swaps[document]);
    },
  });
  const gauge = createReportGauges(
    registers,
    () => names.map((document) => [{ document }, documents.current[document]] as const),
    ['document'],
  );
  gauge(
    'fullmatch_snapshot_bytes',
    'Size of a published document by coding; br is absent until it is ready',
    ['coding'],
    (snapshot) =>
      Object.entries(snapshot?.lengths ?? {}).map(([coding, bytes]) => [{ coding }, bytes]),
  );
  gauge(
    'fullmatch_snapshot_age_seconds',
    'Time since the content of a published document last changed',
    [],
    (snapshot) => [[{}, snapshot && secondsSince(snapshot.lastModified)]],
  );
}

function addRecordMetrics(registers: Registry[], answers: Pick<RecordResponder, 'held'>): void {
  new Counter({
    name: 'fullmatch_record_cache_look_ups_total',
    help: 'Records that clients asked for, by whether their rendering was kept (hit) or not (miss)',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { hits, misses } = answers.held;
      this.reset();
      this.inc({ outcome: 'hit' }, hits);
      this.inc({ outcome: 'miss' }, misses);
    },
  });
  const gauge = createReportGauges(registers, () => [[{}, answers.held]]);
  gauge(
    'fullmatch_record_cache_bytes',
    'Renderings of records that are kept in memory',
    [],
    ({ cached }) => [[{}, cached]],
  );
}

function addHealthMetrics(registers: Registry[], health: () => HealthReport): void {
  const gauge = createReportGauges(registers, () => [[{}, health()]]);
  gauge('fullmatch_ready', '1 when requests should come here', [], ({ ready }) => [[{}, ready]]);
  gauge(
    'fullmatch_database_behind',
    '1 while the database lacks events that were acknowledged',
    [],
    ({ reasons }) => [[{}, reasons.some(({ code }) => code === 'database_behind')]],
  );
  gauge(
    'fullmatch_chains',
    'Chains of the registry, all, supported and monitored',
    ['kind'],
    ({ registry }) => [
      [{ kind: 'all' }, registry?.chains],
      [{ kind: 'supported' }, registry?.supported],
      [{ kind: 'monitored' }, registry?.monitored],
    ],
  );
  gauge(
    'fullmatch_registry_findings',
    'Findings of the chain registry by level',
    ['level'],
    ({ registry }) =>
      Object.entries(registry?.findings ?? {}).map(([level, count]) => [{ level }, count]),
  );
  gauge(
    'fullmatch_configuration_refused',
    '1 while a newer configuration was rejected and the previous one is still used',
    [],
    ({ configuration }) => [[{}, configuration?.refused]],
  );
  gauge(
    'fullmatch_chain_list_stale',
    '1 while no source gives a newer chain list that can be accepted',
    [],
    ({ registry }) => [[{}, registry?.stale]],
  );
  gauge(
    'fullmatch_chain_list_age_seconds',
    'Time since the chain list was read',
    [],
    ({ registry }) => [[{}, registry?.ageSeconds]],
  );
  gauge(
    'fullmatch_chain_list_confirmed_age_seconds',
    'Time since a source last gave or confirmed the chain list',
    [],
    ({ registry }) => [[{}, registry?.confirmedSecondsAgo]],
  );
  gauge(
    'fullmatch_contracts',
    'Contracts by match as in stats.json, which counts verified and imported ones',
    ['match'],
    ({ statistics }) => [
      [{ match: 'full' }, statistics?.full],
      [{ match: 'partial' }, statistics?.partial],
    ],
  );
  gauge(
    'fullmatch_statistics_confirmed_age_seconds',
    'Time since the counts were compared with the database',
    [],
    ({ statistics }) => [[{}, statistics?.confirmedSecondsAgo]],
  );
  gauge('fullmatch_database_up', '1 while the database answers', [], ({ database }) => [
    [{}, database?.reachable],
  ]);
}

/** Creates the app of the metrics port: GET /metrics. It is for loopback only and sends no CORS headers. */
export function createMetricsApp(metrics: Metrics, log: Logger): HostApp {
  const routes = createRoutes();
  routes.get('/metrics', async () => {
    const { text, contentType } = await metrics.render();
    const body = Buffer.from(text);
    return makeResponse(body, {
      status: 200,
      headers: {
        'content-type': contentType,
        'content-length': String(body.byteLength),
        'cache-control': NOT_STORED,
        'x-content-type-options': 'nosniff',
      },
    });
  });
  return createHostApp({ routes, prefixes: [] }, log);
}
