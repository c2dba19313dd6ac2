import { describe, expect, test } from 'vitest';

import { healthyFacts } from '../../test/support/http-fixture.ts';
import { type HealthFacts } from './health-facts.ts';
import { healthReportSchema, readinessSchema } from './health-schema.ts';
import { composeHealth, readinessOf } from './health.ts';

const compose = (changes: Partial<HealthFacts>) => composeHealth({ ...healthyFacts(), ...changes });
const facts = healthyFacts();

describe('Health report', () => {
  test('is ok without reasons and shows ages in whole seconds', () => {
    const report = compose({});
    expect(report).toMatchObject({ status: 'ok', ready: true, reasons: [], uptimeSeconds: 3600 });
    expect(report.registry).toMatchObject({ stale: false, ageSeconds: 3599 });
    expect(report.statistics).toMatchObject({ confirmedSecondsAgo: 1, full: 3, partial: 9 });
    expect(report.database).toEqual({ reachable: true, checkedSecondsAgo: 1 });
    expect(report.queue).toEqual({ queued: 2, running: 1, oldestQueuedSeconds: 7 });
    expect(report.compilers).toEqual({ running: 1, waiting: 0, warm: 2, warmBytes: 400_000_000 });
  });

  const database = { ...facts.database!, reachable: false };
  const silentFor = (seconds: number) => ({
    reachable: true,
    checkedAt: new Date(facts.now.getTime() - seconds * 1000),
  });
  const failingSince = (seconds: number) => ({
    feedFailingSince: new Date(facts.now.getTime() - seconds * 1000),
  });
  const stalled = { queued: 1, running: 0, oldestQueuedAt: new Date('2026-02-03T04:58:59Z') };
  const failure = { since: new Date('2026-02-03T04:00:00Z'), message: 'known ids vanish.' };
  const faulty = { ...facts.registry!, findings: { error: 2, warning: 0, info: 0 } };
  test.each<[string, Partial<HealthFacts>, boolean]>([
    ['stopping', { stopping: true }, false],
    ['chains_not_published', { documents: { chains: false, statistics: true } }, false],
    ['statistics_not_published', { documents: { chains: true, statistics: false } }, false],
    ['database_unreachable', { database }, false],
    ['database_unreachable', { database: silentFor(16) }, false],
    ['list_stale', { listSync: { failure } }, true],
    [
      'list_records_held_back',
      { listSync: { heldBack: { chainIds: [7], sha256: 'ab'.repeat(32) } } },
      true,
    ],
    ['registry_findings', { registry: faulty }, true],
    ['feed_stopped', failingSince(16), true],
    ['queue_stalled', { queue: stalled }, true],
  ])('is degraded by %s', (code, changes, ready) => {
    const report = compose(changes);
    expect(report.status).toBe('degraded');
    expect(report.reasons.map((reason) => reason.code)).toEqual([code]);
    expect(report.ready).toBe(ready);
    expect(readinessOf(report)).toMatchObject({ ready, stale: code === 'list_stale' });
    expect(healthReportSchema.parse(report)).toEqual(report);
    expect(readinessSchema.parse(readinessOf(report))).toEqual(readinessOf(report));
  });

  test.each([
    ['a job that waits while another one runs', { ...stalled, running: 1 }],
    ['a job that has just come', { ...stalled, oldestQueuedAt: facts.now }],
    ['an empty queue', { queued: 0, running: 0 }],
  ])('is ok with %s', (_what, queue) => {
    expect(compose({ queue })).toMatchObject({ status: 'ok', reasons: [] });
  });

  test('reports the feed only after a delay, and not if the database is the cause', () => {
    expect(compose(failingSince(15)).reasons).toEqual([]);
    const { reasons } = compose({ ...failingSince(16), database });
    expect(reasons.map(({ code }) => code)).toEqual(['database_unreachable']);
  });

  test('calls the database reachable until it was silent for more than 15 seconds', () => {
    expect(compose({ database: silentFor(15) })).toMatchObject({ status: 'ok', reasons: [] });
    expect(compose({ database: silentFor(16) }).database?.reachable).toBe(false);
  });

  test('shows since when and why the list is stale and when it was last confirmed', () => {
    const confirmedAt = new Date(facts.now.getTime() - 90_000);
    const report = compose({ listSync: { failure, confirmedAt } });
    expect(report.reasons).toMatchObject([{ since: '2026-02-03T04:00:00.000Z' }]);
    expect(report.reasons[0]?.detail).toContain('known ids vanish.');
    expect(report.registry).toMatchObject({ stale: true, confirmedSecondsAgo: 90 });
    expect(compose({}).registry).not.toHaveProperty('confirmedSecondsAgo');
  });

  test('omits unknown values', () => {
    const { now, startedAt } = facts;
    const documents = { chains: false, statistics: false };
    const report = composeHealth({ now, startedAt, documents, stopping: false });
    expect(Object.keys(report)).toEqual(['status', 'ready', 'reasons', 'uptimeSeconds']);
    expect(readinessOf(report).ages).toEqual({});
    expect(healthReportSchema.parse(report)).toEqual(report);
  });

  test('never shows a negative age when clocks differ', () => {
    const report = compose({ now: new Date(0) });
    expect(report.uptimeSeconds).toBe(0);
    expect(report.statistics?.ageSeconds).toBe(0);
  });
});
