import { FullmatchError } from '../../errors.ts';
import { networkOf } from '../../lib/client-network.ts';
import { type Database, sql } from '../../store/database.ts';
import { jobNotFound } from './end-job.ts';
import { notifyOfWork } from './job-notifications.ts';
import { readJob } from './read-job.ts';

/** Client name of jobs that the operator retries. */
const OPERATOR_CLIENT = 'operator';
const MAX_AT_ONCE = 1000;

// An input that is in flight already is not queued twice.
const retryStatement = (name: string, which: string): ReturnType<typeof sql> =>
  sql(
    name,
    `WITH found AS MATERIALIZED (
       SELECT id, chain_id, address, input_hash, request FROM verification_jobs
       WHERE state = 'failed' AND request IS NOT NULL AND ${which}
       ORDER BY finished_at, id LIMIT ${MAX_AT_ONCE} FOR UPDATE SKIP LOCKED
     ), queued AS (
       INSERT INTO verification_jobs (chain_id, address, input_hash, client, network, request, turn)
       SELECT chain_id, address, input_hash, $2, $3, request, row_number() OVER ()
         + (SELECT coalesce(max(turn), 0) FROM verification_jobs WHERE state = 'queued')
       FROM found ON CONFLICT DO NOTHING RETURNING id
     ), forgotten AS (
       UPDATE verification_jobs SET request = NULL WHERE id IN (SELECT id FROM found)
     )
     SELECT id FROM queued`,
  );
const RETRY_JOB = retryStatement('retry job', 'id = $1::uuid');
const RETRY_FAILURES = retryStatement('retry jobs of a failure', 'error_code = $1');

async function retry(
  database: Database,
  statement: ReturnType<typeof sql>,
  which: string,
): Promise<readonly string[]> {
  const queued = await database.query<{ id: string }>(statement, [
    which,
    OPERATOR_CLIENT,
    networkOf(OPERATOR_CLIENT),
  ]);
  if (queued.length > 0) await notifyOfWork(database);
  return queued.map(({ id }) => id);
}

/**
 * Queues the request of a failed job again, as a new job.
 * @returns the new job's id
 * @throws FullmatchError job_not_found; job_not_retriable if its request is not kept, or is in flight
 */
export async function retryJob(database: Database, id: string): Promise<string> {
  const job = await readJob(database, id);
  if (job === undefined) throw jobNotFound(id);
  const [retried] = await retry(database, RETRY_JOB, job.id);
  if (retried !== undefined) return retried;
  throw new FullmatchError(
    'job_not_retriable',
    `The request of the job ${job.id} is not kept, or is in the queue already. Only jobs that could not check their contract can be retried, for a week; submit the sources again.`,
    { details: { verificationId: job.id, state: job.state } },
  );
}

/**
 * Queues the requests of failed jobs again, as new jobs, at most 1,000 at once.
 * @param code the failure code of the jobs
 * @returns the ids of the new jobs
 */
export function retryFailures(database: Database, code: string): Promise<readonly string[]> {
  return retry(database, RETRY_FAILURES, code);
}
