import { sql, type Queryable } from '../../store/database.ts';

/** Number of jobs that failed for one reason in the last day. */
export interface FailureCount {
  readonly code: string;
  readonly jobs: number;
  /** Number of them whose request is kept. */
  readonly retriable: number;
  /** The newest of these jobs, and when it ended. */
  readonly lastJob: string;
  readonly lastAt: Date;
}

const MAX_REASONS = 50;

// Uses the index on the end of failed jobs.
const COUNT_FAILURES = sql(
  'count failures of a day',
  `SELECT error_code AS code, count(*)::int AS jobs, count(request)::int AS retriable, max(finished_at) AS last_at,
     (array_agg(id ORDER BY finished_at DESC))[1] AS last_job
   FROM verification_jobs WHERE state = 'failed' AND finished_at > now() - interval '1 day'
   GROUP BY error_code ORDER BY jobs DESC, code LIMIT ${MAX_REASONS}`,
);

/** Counts the failures of the last 24 hours by code, most frequent first. */
export async function countFailures(database: Queryable): Promise<readonly FailureCount[]> {
  const rows = await database.query<{
    code: string;
    jobs: number;
    retriable: number;
    last_at: Date;
    last_job: string;
  }>(COUNT_FAILURES);
  return rows.map(({ code, jobs, retriable, last_at, last_job }) => ({
    ...{ code, jobs, retriable, lastAt: last_at, lastJob: last_job },
  }));
}
