import { sql, type Database } from '../../store/database.ts';

/**
 * How much of the time that a client or a network has spent is forgiven, in milliseconds per millisecond. A
 * client that uses less than this share of one worker always counts as having spent nothing.
 */
const DRAINED_PER_MS = 0.1;
/** Maximum spent time on record, so that every client is forgiven within 100 minutes. */
const SPENT_MAX_MS = 600_000;
/** Minimum charge for a running job, since its duration is not known yet. */
const LEAST_JOB_MS = 1000;

/** SQL: milliseconds since a job was claimed. Not negative, since database clocks may be set back. */
const HELD_MS = `greatest(0, extract(epoch FROM clock_timestamp() - coalesce(claimed_at, started_at)) * 1000)`;

/**
 * Builds the SQL joins for the client_usage rows of a network and of a client, as `of_network` and
 * `of_client`. Networks and clients share one table, keyed by name.
 */
export function joinUsage(network: string, client: string): string {
  return `LEFT JOIN client_usage AS of_network ON of_network.client = ${network}
    LEFT JOIN client_usage AS of_client ON of_client.client = ${client}`;
}

/** Builds the SQL for the current value of a client_usage row, in milliseconds; 0 if there is no row. */
export function spentMs(row = 'client_usage'): string {
  return `coalesce(greatest(0, ${row}.spent_ms
    - ${DRAINED_PER_MS} * extract(epoch FROM clock_timestamp() - ${row}.updated_at) * 1000), 0)::float8`;
}

/** SQL: the charge for the running jobs of a group, in milliseconds. */
export const RUNNING_MS = `sum(greatest(${HELD_MS}, ${LEAST_JOB_MS}))::float8`;

/**
 * Builds a CTE that charges clients and their networks for the time that workers have held their jobs. It is
 * part of the statement that takes a job from its worker, so that all time is counted exactly once.
 * @param condition selects the running jobs
 */
export function chargeUsageCte(condition: string): string {
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

/** Deletes the usage of clients and networks whose spent time has drained to zero. */
export async function deleteDrainedUsage(database: Database): Promise<void> {
  await database.query(FORGET_USAGE);
}
