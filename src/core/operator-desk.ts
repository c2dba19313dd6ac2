import { statfs } from 'node:fs/promises';
import { retryBackfills } from '../monitor/follow/monitor-state.ts';
import { retryCreations } from '../monitor/inbox/inbox-table.ts';
import { readFeedLags } from '../repository/repository.ts';
import { type Database, sql } from '../store/database.ts';
import { countFailures } from '../verification/jobs/count-failures.ts';
import { endJob } from '../verification/jobs/end-job.ts';
import { listJobs } from '../verification/jobs/read-job.ts';
import { retryFailures } from '../verification/jobs/retry-jobs.ts';

const MAX_JOBS = 50;
const READ_SIZE = sql(
  'read size of the database',
  'SELECT pg_database_size(current_database())::float8 AS bytes',
);

/** Creates what an operator sees and controls in a running service, for its database and data directory. */
export function openOperatorDesk(database: Database, dataDir: string) {
  return {
    /** Reads the state for the operator: jobs in flight, newest first, failures, feed and space. */
    look: async () => {
      const [jobs, failures, feed, [size], disk] = await Promise.all([
        listJobs(database, ['queued', 'running'], MAX_JOBS),
        countFailures(database),
        readFeedLags(database),
        database.query<{ bytes: number }>(READ_SIZE),
        statfs(dataDir).catch(() => undefined),
      ]);
      return {
        ...{ jobs, failures, feed },
        databaseBytes: size?.bytes ?? 0,
        // Absent if there is no data directory, for example next to another server's database.
        ...(disk && {
          disk: { freeBytes: disk.bavail * disk.bsize, totalBytes: disk.blocks * disk.bsize },
        }),
      };
    },
    /** @throws FullmatchError job_not_found, job_ended */
    cancelJob: async (id: string) => {
      await endJob(database, id);
    },
    /** Queues the kept requests of jobs that failed with a code again; see {@link retryFailures}. */
    retryFailures: async (code: string) => {
      await retryFailures(database, code);
    },
    /** Retries what the monitor of a chain found and what it could not read. */
    retryFound: async (chainId: number) => {
      await retryBackfills(database, chainId);
      await retryCreations(database, [chainId], { isGivenUp: true });
    },
  };
}
