import { statfs } from 'node:fs/promises';
import { retryBackfills } from '../monitor/follow/monitor-state.ts';
import { retryCreations } from '../monitor/inbox/inbox-table.ts';
import { readFeedLags } from '../repository/repository.ts';
import { type Database, sql } from '../store/database.ts';
import { countFailures, type FailureCount } from '../verification/jobs/count-failures.ts';
import { endJob } from '../verification/jobs/end-job.ts';
import { listJobs } from '../verification/jobs/read-job.ts';
import { retryFailures } from '../verification/jobs/retry-jobs.ts';
import { type VerificationJob } from '../verification/jobs/verification-job.ts';

/** State of the service for its operator only. */
export interface DeskDependencies {
  /** Jobs in flight, newest first. */
  readonly jobs: readonly VerificationJob[];
  readonly failures: readonly FailureCount[];
  readonly feed: readonly { readonly name: string; readonly behind: number }[];
  readonly databaseBytes: number;
  /** File system of the data directory; absent if there is none, for example next to another server's database. */
  readonly disk?: { readonly freeBytes: number; readonly totalBytes: number };
}

/** What an operator sees and controls in a running service. */
export interface OperatorDesk {
  look(): Promise<DeskDependencies>;
  /** @throws FullmatchError job_not_found, job_ended */
  cancelJob(id: string): Promise<void>;
  /** Queues the kept requests of jobs that failed with a code again; see {@link retryFailures}. */
  retryFailures(code: string): Promise<void>;
  /** Retries what the monitor of a chain found and what it could not read. */
  retryFound(chainId: number): Promise<void>;
}

const MAX_JOBS = 50;
const READ_SIZE = sql(
  'read size of the database',
  'SELECT pg_database_size(current_database())::float8 AS bytes',
);

/** Creates the desk for a database and a data directory. */
export function openOperatorDesk(database: Database, dataDir: string): OperatorDesk {
  return {
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
        ...(disk && {
          disk: { freeBytes: disk.bavail * disk.bsize, totalBytes: disk.blocks * disk.bsize },
        }),
      };
    },
    cancelJob: async (id) => {
      await endJob(database, id);
    },
    retryFailures: async (code) => {
      await retryFailures(database, code);
    },
    retryFound: async (chainId) => {
      await retryBackfills(database, chainId);
      await retryCreations(database, [chainId], { isGivenUp: true });
    },
  };
}
