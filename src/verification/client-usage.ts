import { sql, type Database } from '../store/database.ts';

/**
 * How much of its spent time a client is forgiven, in milliseconds for each millisecond that passes. A client that
 * uses less than this share of one worker always counts as one that has used nothing.
 */
const DRAINED_PER_MS = 0.1;
/** A client that has spent more counts as one that has spent this much, so that it is forgiven within 100 minutes. */
const SPENT_MAX_MS = 600_000;
/** What a job that runs counts at least: how long it will take is not known yet. */
const LEAST_JOB_MS = 1000;

/** Since a job was claimed, in milliseconds. Clocks of a database may be set back. */
const HELD_MS = `greatest(0, extract(epoch FROM clock_timestamp() - coalesce(claimed_at, started_at)) * 1000)`;

/** SQL: what a row of client_usage says now, in milliseconds. */
export const SPENT_MS = `greatest(0, client_usage.spent_ms
  - ${DRAINED_PER_MS} * extract(epoch FROM clock_timestamp() - client_usage.updated_at) * 1000)::float8`;

/** SQL: what the jobs of a group count while they run, in milliseconds. */
export const RUNNING_MS = `sum(greatest(${HELD_MS}, ${LEAST_JOB_MS}))::float8`;

/**
 * SQL: a part of a WITH list that charges clients for the time for which workers have held their jobs. It stands in
 * the statement that takes a job from its worker, so that no time is lost and none is counted twice.
 * @param condition which running jobs.
 */
export function chargeFor(condition: string): string {
  return `charged AS (
    INSERT INTO client_usage (client, spent_ms, updated_at)
    SELECT client, least(sum(${HELD_MS}), ${SPENT_MAX_MS}), clock_timestamp() FROM verification_jobs
    WHERE state = 'running' AND client IS NOT NULL AND ${condition} GROUP BY client ORDER BY client
    ON CONFLICT (client) DO UPDATE SET updated_at = excluded.updated_at,
      spent_ms = least(${SPENT_MS} + excluded.spent_ms, ${SPENT_MAX_MS})
  )`;
}

const FORGET_USAGE = sql(
  'forget usage of clients',
  `DELETE FROM client_usage WHERE ${SPENT_MS} = 0`,
);

/** Forgets clients whose spent time has drained away. */
export async function forgetUsage(database: Database): Promise<void> {
  await database.query(FORGET_USAGE);
}
