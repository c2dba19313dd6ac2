import { sql, type Database } from '../../store/database.ts';
import { deleteDrainedUsage } from './client-usage.ts';

/** Retention of ended jobs. */
const RETENTION = '30 days';
/** Maximum number of failed and of succeeded jobs to keep. */
const KEPT_FAILED = 10_000;
const KEPT_SUCCEEDED = 100_000;
/**
 * Number of failed jobs, and time, for which compared bytecodes and requests to retry are kept. Older jobs
 * keep only their reason.
 */
const KEPT_RECORDS = 1000;
const RECORD_RETENTION = '7 days';

/** Builds the SQL for the end time of the `kept`-th newest job in a state. It reads that many index entries. */
function endOfKept(state: 'failed' | 'succeeded', kept: number): string {
  return `coalesce((SELECT finished_at FROM verification_jobs WHERE state = '${state}'
    ORDER BY finished_at DESC OFFSET ${kept - 1} LIMIT 1), '-infinity')`;
}

function forgetStatement(state: 'failed' | 'succeeded', kept: number): ReturnType<typeof sql> {
  return sql(
    `forget jobs that ${state}`,
    `DELETE FROM verification_jobs WHERE state = '${state}'
     AND finished_at < greatest(now() - interval '${RETENTION}', ${endOfKept(state, kept)})`,
  );
}

const FORGET_FAILED = forgetStatement('failed', KEPT_FAILED);
const FORGET_SUCCEEDED = forgetStatement('succeeded', KEPT_SUCCEEDED);
const FORGET_RECORDS = sql(
  'forget what failed jobs compared',
  `UPDATE verification_jobs SET error_data = NULL, request = NULL
   WHERE state = 'failed' AND (error_data IS NOT NULL OR request IS NOT NULL)
   AND finished_at < greatest(now() - interval '${RECORD_RETENTION}', ${endOfKept('failed', KEPT_RECORDS)})`,
);

/** Deletes jobs past their retention or beyond the maximum number, and usage that has drained to zero. */
export async function deleteOldJobs(database: Database): Promise<void> {
  await database.query(FORGET_FAILED);
  await database.query(FORGET_SUCCEEDED);
  await database.query(FORGET_RECORDS);
  await deleteDrainedUsage(database);
}
