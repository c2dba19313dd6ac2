import { sql, type Database } from '../../store/database.ts';
import { forgetUsage } from './client-usage.ts';

/** Jobs are kept this long after their end. */
const RETENTION = '30 days';
/** As many jobs are kept that failed, and as many that succeeded. */
const KEPT_FAILED = 10_000;
const KEPT_SUCCEEDED = 100_000;
/** The compared codes are kept for this many failed jobs, and for this long. Older jobs keep their reason. */
const KEPT_RECORDS = 1000;
const RECORD_RETENTION = '7 days';

/** SQL: when the job ended after which there are `kept` in a state. It reads as many entries of an index. */
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
  `UPDATE verification_jobs SET error_data = NULL WHERE state = 'failed' AND error_data IS NOT NULL
   AND finished_at < greatest(now() - interval '${RECORD_RETENTION}', ${endOfKept('failed', KEPT_RECORDS)})`,
);

/** Forgets jobs that ended long ago or before too many others, and the usage of clients that has drained away. */
export async function forgetOldJobs(database: Database): Promise<void> {
  await database.query(FORGET_FAILED);
  await database.query(FORGET_SUCCEEDED);
  await database.query(FORGET_RECORDS);
  await forgetUsage(database);
}
