import { bytesToHex } from '../../lib/hex.ts';
import type { Match } from '../../repository/repository.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type SettingChanges } from '../../solidity/setting-changes.ts';
import { type FailureRecord, completeBytecodes } from './failure-record.ts';
import {
  type DroppedSources,
  type JobFailure,
  type VerificationJob,
  type VerificationJobState,
} from './verification-job.ts';

const COLUMNS = `id, state, chain_id, address, created_at, started_at, finished_at, compile_time_ms,
  runtime_match, creation_match, event_id, kept_beside, dropped_sources, changed_settings, error_code, error_message, error_id, error_data,
  CASE WHEN awaited_until >= now() THEN awaited_compiler END AS awaited_compiler, awaited_bytes, awaited_total_bytes,
  (SELECT jsonb_object_agg(explorer, jsonb_build_object('state', state, 'externalId', external_id, 'error', error, 'links', links))
   FROM external_verifications WHERE job_id = verification_jobs.id) AS external`;

const READ_JOBS = sql(
  'read jobs',
  `SELECT ${COLUMNS} FROM verification_jobs WHERE id = ANY ($1::uuid[])`,
);

// Newest first. Jobs in flight are found by index, ended jobs by a table scan; only operators call it, and
// they can wait.
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
  readonly changed_settings: SettingChanges | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_id: string | null;
  readonly error_data: FailureRecord | null;
  readonly awaited_compiler: string | null;
  readonly awaited_bytes: string | null;
  readonly awaited_total_bytes: string | null;
  readonly external: Exclude<VerificationJob['external'], undefined> | null;
}

const LIST_UNFINISHED = sql(
  'list unfinished jobs',
  `SELECT id FROM verification_jobs WHERE id = ANY ($1::uuid[]) AND state IN ('queued', 'running')`,
);

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
    ...(row.changed_settings && { changedSettings: row.changed_settings }),
    ...(row.started_at && { startedAt: row.started_at }),
    ...(row.finished_at && { finishedAt: row.finished_at }),
    ...(row.compile_time_ms !== null && { compileTimeMs: row.compile_time_ms }),
    ...(row.event_id !== null && { eventNumber: row.event_id }),
    ...(row.awaited_compiler !== null && {
      compilerDownload: {
        longVersion: row.awaited_compiler,
        receivedBytes: Number(row.awaited_bytes),
        ...(row.awaited_total_bytes !== null && { totalBytes: Number(row.awaited_total_bytes) }),
      },
    }),
    ...(row.external !== null && { external: row.external }),
    ...(row.error_code !== null && { failure: toFailure(row.error_code, row) }),
  };
}

function toFailure(code: string, row: JobRow): JobFailure {
  const record = row.error_data ?? {};
  const { runtime, creation } = record;
  return {
    code,
    message: row.error_message ?? '',
    id: row.error_id ?? '',
    ...(record.data && { data: record.data }),
    ...((runtime ?? creation) && {
      codes: completeBytecodes(record),
      comparedCodes: { ...(runtime && { runtime }), ...(creation && { creation }) },
    }),
  };
}

/** Reads a job; returns undefined for an unknown or malformed id. */
export async function readJob(
  database: Queryable,
  id: string,
): Promise<VerificationJob | undefined> {
  return (await readJobs(database, [id])).get(id);
}

/** Reads jobs in one statement, keyed by the ids as given; unknown ids are left out. */
export async function readJobs(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, VerificationJob>> {
  const known = ids.filter((id) => UUID.test(id));
  if (known.length === 0) return new Map();
  const rows = await database.query<JobRow>(READ_JOBS, [known]);
  const jobs = new Map(rows.map((row) => [row.id, toJob(row)]));
  return new Map(
    known.flatMap((id) => {
      const job = jobs.get(id.toLowerCase());
      return job === undefined ? [] : [[id, job] as const];
    }),
  );
}

/** Returns whether a text is a UUID, the form of job ids. */
export function isJobId(text: string): boolean {
  return UUID.test(text);
}

/** Returns which of these jobs have not ended. The ids must be in lower case. */
export async function listUnfinished(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(LIST_UNFINISHED, [ids]);
  return new Set(rows.map(({ id }) => id));
}

/** Lists the newest jobs in these states, newest first. */
export async function listJobs(
  database: Queryable,
  states: readonly VerificationJobState[],
  limit: number,
): Promise<readonly VerificationJob[]> {
  return (await database.query<JobRow>(LIST_JOBS, [states, limit])).map(toJob);
}
