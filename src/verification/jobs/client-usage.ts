import { sql, type Database } from '../../store/database.ts';

/**
 * How much of its spent time a client, or a network, is forgiven, in milliseconds for each millisecond that passes. A client that
 * uses less than this share of one worker always counts as one that has used nothing.
 */
const DRAINED_PER_MS = 0.1;
/** A client that has spent more counts as one that has spent this much, so that it is forgiven within 100 minutes. */
const SPENT_MAX_MS = 600_000;
/** What a job that runs counts at least: how long it will take is not known yet. */
const LEAST_JOB_MS = 1000;

/** Since a job was claimed, in milliseconds. Clocks of a database may be set back. */
const HELD_MS = `greatest(0, extract(epoch FROM clock_timestamp() - coalesce(claimed_at, started_at)) * 1000)`;

/**
 * SQL: the rows of client_usage of a network and of a client, as `of_network` and `of_client`. Networks and clients
 * are in one table, by their names.
 */
export function joinUsage(network: string, client: string): string {
  return `LEFT JOIN client_usage AS of_network ON of_network.client = ${network}
    LEFT JOIN client_usage AS of_client ON of_client.client = ${client}`;
}

/** SQL: what a row of client_usage says now, in milliseconds; 0 where there is none. */
export function spentMs(row = 'client_usage'): string {
  return `coalesce(greatest(0, ${row}.spent_ms
    - ${DRAINED_PER_MS} * extract(epoch FROM clock_timestamp() - ${row}.updated_at) * 1000), 0)::float8`;
}

/** SQL: what the jobs of a group count while they run, in milliseconds. */
export const RUNNING_MS = `sum(greatest(${HELD_MS}, ${LEAST_JOB_MS}))::float8`;

/**
 * SQL: a part of a WITH list that charges clients and their networks for the time for which workers have held their
 * jobs. It stands in the statement that takes a job from its worker, so that no time is lost and none is counted twice.
 * @param condition which running jobs.
 */
export function chargeFor(condition: string): string {
  return `charged AS (
    INSERT INTO client_usage (client, spent_ms, updated_at)
    SELECT payer, least(sum(${HELD_MS}), ${SPENT_MAX_MS}), clock_timestamp()
    FROM verification_jobs CROSS JOIN LATERAL (
      SELECT DISTINCT payer FROM unnest(ARRAY[client, network]) AS payer WHERE payer IS NOT NULL) AS payers
    WHERE state = 'running' AND ${condition} GROUP BY payer ORDER BY payer
    ON CONFLICT (client) DO UPDATE SET updated_at = excluded.updated_at,
      spent_ms = least(${spentMs()} + excluded.spent_ms, ${SPENT_MAX_MS})
  )`;
}

const FORGET_USAGE = sql(
  'forget usage of clients',
  `DELETE FROM client_usage WHERE ${spentMs()} = 0`,
);

/** Forgets clients and networks whose spent time has drained away. */
export async function forgetUsage(database: Database): Promise<void> {
  await database.query(FORGET_USAGE);
}
