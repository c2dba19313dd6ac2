import { bytesToHex } from '../lib/hex.ts';
import { type Match } from '../repository/verified-contract.ts';
import { sql, type Queryable } from '../store/database.ts';
import { type ComparedCodes } from './verification-failure.ts';
import {
  type DroppedSources,
  type VerificationJob,
  type VerificationJobState,
} from './verification-job.ts';

const COLUMNS = `id, state, chain_id, address, created_at, started_at, finished_at, compile_time_ms,
  runtime_match, creation_match, event_id, kept_beside, dropped_sources, error_code, error_message, error_id, error_data`;

const READ_JOB = sql('read job', `SELECT ${COLUMNS} FROM verification_jobs WHERE id = $1`);

// Newest first; what has not ended is found by its index, what has by reading the table, which an operator may wait for.
const LIST_JOBS = sql(
  'list jobs',
  `SELECT ${COLUMNS} FROM verification_jobs WHERE state = ANY ($1::verification_job_state[])
   ORDER BY created_at DESC, id LIMIT $2`,
);

interface JobRow {
  readonly id: string;
  readonly state: VerificationJobState;
  readonly chain_id: string;
  readonly address: Buffer;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly compile_time_ms: number | null;
  readonly runtime_match: Match | null;
  readonly creation_match: Match | null;
  readonly event_id: string | null;
  readonly kept_beside: boolean;
  readonly dropped_sources: DroppedSources | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_id: string | null;
  readonly error_data: {
    readonly data?: Readonly<Record<string, unknown>>;
    readonly codes?: ComparedCodes;
  } | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function toJob(row: JobRow): VerificationJob {
  return {
    id: row.id,
    state: row.state,
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    createdAt: row.created_at,
    runtimeMatch: row.runtime_match,
    creationMatch: row.creation_match,
    keptBeside: row.kept_beside,
    ...(row.dropped_sources && { droppedSources: row.dropped_sources }),
    ...(row.started_at && { startedAt: row.started_at }),
    ...(row.finished_at && { finishedAt: row.finished_at }),
    ...(row.compile_time_ms !== null && { compileTimeMs: row.compile_time_ms }),
    ...(row.event_id !== null && { eventId: row.event_id }),
    ...(row.error_code !== null && {
      failure: {
        code: row.error_code,
        message: row.error_message ?? '',
        id: row.error_id ?? '',
        ...(row.error_data?.data && { data: row.error_data.data }),
        ...(row.error_data?.codes && { codes: row.error_data.codes }),
      },
    }),
  };
}

/** The job of an id; undefined when there is none, and for what is no id. */
export async function readJob(
  database: Queryable,
  id: string,
): Promise<VerificationJob | undefined> {
  if (!UUID.test(id)) return undefined;
  const [row] = await database.query<JobRow>(READ_JOB, [id]);
  return row === undefined ? undefined : toJob(row);
}

/** The newest jobs in these states, newest first. */
export async function listJobs(
  database: Queryable,
  states: readonly VerificationJobState[],
  limit: number,
): Promise<readonly VerificationJob[]> {
  return (await database.query<JobRow>(LIST_JOBS, [states, limit])).map(toJob);
}
