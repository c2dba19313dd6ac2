import { randomUUID } from 'node:crypto';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { printableText } from '../lib/printable-text.ts';
import { type SavedMatch } from '../repository/save-matches.ts';
import { sql, type Database } from '../store/database.ts';
import { notifyOfJobs } from './job-notifications.ts';
import { failureKindOf, type VerificationFailure } from './verification-failure.ts';
import { toDroppedSources, type JobEnd } from './verification-job.ts';
import { type VerificationResult } from './verify-contract.ts';

/** A job that a worker holds: its own until the lease runs out. */
export interface ClaimedJob {
  readonly id: string;
  /** Tells this claim from later ones of the same job. */
  readonly token: string;
  readonly chainId: number;
  readonly address: Hex;
  readonly request: Buffer;
  /** This claim included. */
  readonly attempts: number;
}

/** A job that is claimed so often without an end does something to its workers. */
export const MAX_ATTEMPTS = 3;
/** Jobs are kept this long after their end. */
const RETENTION = '30 days';
const MESSAGE_MAX_CHARACTERS = 4000;

const CLAIM = sql(
  'claim job',
  `UPDATE verification_jobs SET state = 'running', attempts = attempts + 1, lease_token = gen_random_uuid(),
     started_at = coalesce(started_at, now()), lease_until = now() + $1 * interval '1 millisecond'
   WHERE id = (
     SELECT id FROM verification_jobs WHERE state = 'queued' ORDER BY turn, created_at
     LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING id, lease_token, chain_id, address, request, attempts`,
);
const RENEW = sql(
  'renew lease',
  `UPDATE verification_jobs SET lease_until = now() + $3 * interval '1 millisecond'
   WHERE id = $1 AND lease_token = $2 RETURNING cancel_requested`,
);
const HAND_BACK = sql(
  'hand job back',
  `UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL,
     attempts = attempts - CASE WHEN $3 THEN 0 ELSE 1 END
   WHERE id = $1 AND lease_token = $2 AND NOT cancel_requested RETURNING id`,
);
const SUCCEED = sql(
  'finish job with a match',
  `UPDATE verification_jobs SET state = 'succeeded', finished_at = now(), request = NULL, client = NULL,
     lease_token = NULL, lease_until = NULL,
     runtime_match = $3, creation_match = $4, event_id = $5, compile_time_ms = $6,
     kept_beside = $7, dropped_sources = $8
   WHERE id = $1 AND lease_token = $2 RETURNING id`,
);
const FAIL = `SET state = 'failed', finished_at = now(), request = NULL, client = NULL,
  lease_token = NULL, lease_until = NULL`;
const FAIL_CLAIMED = sql(
  'finish job with a failure',
  `UPDATE verification_jobs ${FAIL}, error_code = $3, error_message = $4, error_id = $5, error_data = $6
   WHERE id = $1 AND lease_token = $2 RETURNING id`,
);
const CANCEL = sql(
  'cancel job',
  `WITH queued AS (
     UPDATE verification_jobs ${FAIL}, error_code = 'job_cancelled',
       error_message = 'The verification was cancelled.', error_id = gen_random_uuid()
     WHERE id = $1 AND state = 'queued' RETURNING id
   ), running AS (
     UPDATE verification_jobs SET cancel_requested = true WHERE id = $1 AND state = 'running' RETURNING id
   )
   SELECT id FROM queued UNION ALL SELECT id FROM running`,
);
const REQUEUE_LOST = sql(
  'queue lost jobs again',
  `UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND lease_until < now() AND attempts < $1 AND NOT cancel_requested
     FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
const FAIL_LOST = sql(
  'fail lost jobs',
  `UPDATE verification_jobs ${FAIL}, error_id = gen_random_uuid(),
     error_code = CASE WHEN cancel_requested THEN 'job_cancelled' ELSE 'internal_error' END,
     error_message = CASE WHEN cancel_requested THEN 'The verification was cancelled.'
       ELSE 'The verification was begun ' || attempts || ' times, and each time its process ended before it.' END
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND lease_until < now() AND (attempts >= $1 OR cancel_requested)
     FOR UPDATE SKIP LOCKED)
   RETURNING error_code, extract(epoch FROM finished_at - started_at)::float8 AS seconds`,
);
const FORGET_OLD = sql(
  'forget old jobs',
  `DELETE FROM verification_jobs WHERE finished_at < now() - interval '${RETENTION}'`,
);

/** Takes the job whose turn it is, or returns undefined when none waits. */
export async function claimJob(
  database: Database,
  leaseMs: number,
): Promise<ClaimedJob | undefined> {
  const [row] = await database.query<{
    id: string;
    lease_token: string;
    chain_id: string;
    address: Buffer;
    request: Buffer;
    attempts: number;
  }>(CLAIM, [leaseMs]);
  if (row === undefined) return undefined;
  return {
    id: row.id,
    token: row.lease_token,
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    request: row.request,
    attempts: row.attempts,
  };
}

/** Renews the lease of a claim, and says whether to go on: the job may be cancelled, or taken by another worker. */
export async function renewLease(
  database: Database,
  { id, token }: ClaimedJob,
  leaseMs: number,
): Promise<'held' | 'cancelled' | 'lost'> {
  const [row] = await database.query<{ cancel_requested: boolean }>(RENEW, [id, token, leaseMs]);
  if (row === undefined) return 'lost';
  return row.cancel_requested ? 'cancelled' : 'held';
}

/** Puts a claimed job back into the queue; `counts` says whether the claim counts as an attempt. */
export async function handBack(
  database: Database,
  { id, token }: ClaimedJob,
  counts: boolean,
): Promise<void> {
  await database.query(HAND_BACK, [id, token, counts]);
  await notifyOfJobs(database);
}

/** Ends a claimed job whose match is stored. @returns false for a claim that was lost: it changes nothing. */
export async function finishWithMatch(
  database: Database,
  { id, token }: ClaimedJob,
  { contract, compileTimeMs, droppedSources }: VerificationResult,
  { eventId, keptBeside }: SavedMatch,
): Promise<boolean> {
  const { runtimeMatch, creationMatch } = contract;
  const ended = await database.query(SUCCEED, [
    id,
    token,
    runtimeMatch,
    creationMatch,
    eventId ?? null,
    Math.round(compileTimeMs),
    keptBeside === true,
    toStorableJson(toDroppedSources(droppedSources) ?? null),
  ]);
  await notifyOfJobs(database);
  return ended.length > 0;
}

/**
 * Ends a claimed job without a match.
 * @returns the id under which the failure is known; undefined for a claim that was lost: it changes nothing.
 */
export async function finishWithFailure(
  database: Database,
  { id, token }: ClaimedJob,
  { code, message, data, codes }: VerificationFailure,
): Promise<string | undefined> {
  const errorId = randomUUID();
  const ended = await database.query(FAIL_CLAIMED, [
    id,
    token,
    code,
    printableText(message, MESSAGE_MAX_CHARACTERS),
    errorId,
    toStorableJson({ data, codes }),
  ]);
  await notifyOfJobs(database);
  return ended.length > 0 ? errorId : undefined;
}

/** JSON without what a jsonb column refuses: a NUL, and halves of surrogate pairs. */
function toStorableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\ufffd');
}

/** Cancels a job: at once while it waits, within a heartbeat while it runs. @returns false when it is not in flight. */
export async function cancelJob(database: Database, id: string): Promise<boolean> {
  const rows = await database.query(CANCEL, [id]);
  await notifyOfJobs(database);
  return rows.length > 0;
}

/** Takes jobs from workers that are gone: back into the queue, or to their end after too many attempts. */
export async function reapJobs(
  database: Database,
): Promise<{ readonly requeued: number; readonly ended: readonly JobEnd[] }> {
  const failed = await database.query<{
    error_code: 'job_cancelled' | 'internal_error';
    seconds: number;
  }>(FAIL_LOST, [MAX_ATTEMPTS]);
  const requeued = await database.query(REQUEUE_LOST, [MAX_ATTEMPTS]);
  if (failed.length + requeued.length > 0) await notifyOfJobs(database);
  const ended = failed.map(({ error_code: outcome, seconds }) => ({
    kind: failureKindOf(outcome),
    outcome,
    seconds,
  }));
  return { requeued: requeued.length, ended };
}

/** Forgets jobs that ended long ago. */
export async function forgetOldJobs(database: Database): Promise<void> {
  await database.query(FORGET_OLD);
}
