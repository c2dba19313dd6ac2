import { Counter, Histogram, type Registry } from 'prom-client';

import { type HealthReport } from './health-schema.ts';
import { createReportGauges } from './report-gauge.ts';
import { type Verification } from '../verification/verification.ts';

/** From jobs that fail before the compilation up to a job's time limit. */
const DURATION_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

/** Adds metrics of the jobs that this process's workers finished. */
export function addJobMetrics(
  registers: Registry[],
  verification: Pick<Verification, 'onJobEnd' | 'waiters'>,
): void {
  createReportGauges(registers, () => [[{}, verification]])(
    'fullmatch_verification_waiting_requests',
    'Requests of this process that wait for the ends of verification jobs',
    [],
    ({ waiters }) => [[{}, waiters]],
  );
  const ended = new Counter({
    name: 'fullmatch_verification_jobs_ended_total',
    help: 'Verification jobs that this process brought to their ends, by match (full, partial) or code of the failure',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'fullmatch_verification_job_duration_seconds',
    help: 'From the moment at which a worker took the job to its end, by kind: match, no_match, invalid_input, not_checked',
    labelNames: ['kind'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  verification.onJobEnd(({ kind, outcome, seconds }) => {
    ended.inc({ outcome });
    if (seconds !== undefined) duration.observe({ kind }, seconds);
  });
}

/** Adds metrics of the job queue and the compilers, taken from the health report. */
export function addQueueMetrics(registers: Registry[], health: () => HealthReport): void {
  const gauge = createReportGauges(registers, () => [[{}, health()]]);
  gauge(
    'fullmatch_verification_jobs',
    'Verification jobs in flight by state, of all processes of the database',
    ['state'],
    ({ queue }) => [
      [{ state: 'queued' }, queue?.queued],
      [{ state: 'running' }, queue?.running],
    ],
  );
  gauge(
    'fullmatch_verification_oldest_queued_age_seconds',
    'Time since the submission of the job that waits longest; 0 when none waits',
    [],
    ({ queue }) => [[{}, queue && (queue.oldestQueuedSeconds ?? 0)]],
  );
  gauge(
    'fullmatch_compilers',
    'Compilations at work, compilations that wait for a place, and loaded compilers that wait for work',
    ['state'],
    ({ compilers }) => [
      [{ state: 'running' }, compilers?.running],
      [{ state: 'waiting' }, compilers?.waiting],
      [{ state: 'warm' }, compilers?.warm],
    ],
  );
  gauge(
    'fullmatch_warm_compilers_bytes',
    'Resident memory of the loaded compilers that wait for work, as each had it when its last compilation ended',
    [],
    ({ compilers }) => [[{}, compilers?.warmBytes]],
  );
}
