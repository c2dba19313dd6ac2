import { randomUUID } from 'node:crypto';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { printableLines } from '../../lib/printable-text.ts';
import { toStorableJson } from '../../lib/storable-text.ts';
import type { SavedMatch } from '../../repository/repository.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database } from '../../store/database.ts';
import { chargeUsageCte, joinUsage, RUNNING_MS, spentMs } from './client-usage.ts';
import { CLEAR_COMPILER_WAIT, IS_NOT_AWAITING_COMPILER } from './awaited-compilers.ts';
import { notifyOfEnds, notifyOfWork } from './job-notifications.ts';
import { buildFailureRecord } from './failure-record.ts';
import { isRetriable, keepRequestSql } from './kept-requests.ts';
import { failureKindOf, type VerificationFailure } from '../verification-failure.ts';
import { toDroppedSources, type JobEnd } from './verification-job.ts';
import { type VerificationResult } from '../verify-contract.ts';

/** A job that a worker holds until the lease expires. */
export interface ClaimedJob {
  readonly id: string;
  /** Distinguishes this claim from later claims of the same job. */
  readonly token: string;
  readonly chainId: number;
  readonly address: Hex;
  readonly request: Buffer;
  /** Number of attempts, including this one. */
  readonly attempts: number;
  readonly client: string;
  /** Number of waits for a compiler. */
  readonly compilerWaits: number;
}

/** Client name of jobs that the monitor submits. Other clients are named by their IP addresses. */
export const MONITOR_CLIENT = 'monitor';

/** Limit on the attempts of a job; a job that exceeds it probably crashes its workers. */
export const MAX_ATTEMPTS = 3;
const MESSAGE_MAX_CHARACTERS = 4000;

const HAS_WAITING = sql(
  'find out whether a job waits',
  `SELECT EXISTS (SELECT FROM verification_jobs WHERE state = 'queued') AS waits`,
);

/** SQL: the time that a network or client has spent, including running jobs. */
const spentOf = (row: string, running: string): string =>
  `${spentMs(row)} + coalesce(${running}.held_ms, 0)`;

/**
 * SQL: the order of networks, then of clients in each. The fewest running jobs come first, so that no client
 * gets a second worker while another waits for its first; among equals, the least spent time. Jobs of the
 * monitor come after those of clients.
 */
const CLAIM_ORDER = `waiting.client = '${MONITOR_CLIENT}',
  coalesce(in_network.jobs, 0), ${spentOf('of_network', 'in_network')},
  coalesce(in_client.jobs, 0), ${spentOf('of_client', 'in_client')}, turn, created_at`;

const IS_WAITING = `state = 'queued' AND ${IS_NOT_AWAITING_COMPILER}`;
const runningOf = (whose: 'network' | 'client'): string =>
  `SELECT ${whose}, count(*) AS jobs, ${RUNNING_MS} AS held_ms
   FROM verification_jobs WHERE state = 'running' GROUP BY ${whose}`;

// A client's jobs are served round-robin over chains. Clients are found by a loose index scan, and only the
// next job of each is read.
const CLAIM = sql(
  'claim job',
  `WITH RECURSIVE clients AS (
     (SELECT network, client FROM verification_jobs WHERE ${IS_WAITING} ORDER BY network, client LIMIT 1)
     UNION ALL
     SELECT later.* FROM clients CROSS JOIN LATERAL (
       SELECT each.network, each.client FROM verification_jobs AS each
       WHERE ${IS_WAITING} AND (each.network, each.client) > (clients.network, clients.client)
       ORDER BY each.network, each.client LIMIT 1) AS later
   ), waiting AS (
     SELECT clients.*, next.* FROM clients CROSS JOIN LATERAL (
       SELECT id, turn, created_at FROM verification_jobs AS each
       WHERE ${IS_WAITING} AND each.network = clients.network AND each.client = clients.client
       ORDER BY turn, created_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS next
   ), in_network AS (${runningOf('network')}), in_client AS (${runningOf('client')})
   -- Not now(), which is when the transaction began to wait for the lock.
   UPDATE verification_jobs SET state = 'running', attempts = attempts + 1, lease_token = gen_random_uuid(),
     started_at = coalesce(started_at, clock_timestamp()), claimed_at = clock_timestamp(),
     lease_until = clock_timestamp() + $1 * interval '1 millisecond', ${CLEAR_COMPILER_WAIT}
   WHERE id = (
     SELECT waiting.id FROM waiting LEFT JOIN in_network ON in_network.network = waiting.network
       LEFT JOIN in_client ON in_client.client = waiting.client
       ${joinUsage('waiting.network', 'waiting.client')}
     ORDER BY ${CLAIM_ORDER} LIMIT 1)
   RETURNING id, lease_token, chain_id, address, request, attempts, client, compiler_waits`,
);
const RENEW = sql(
  'renew lease',
  `UPDATE verification_jobs SET lease_until = now() + $3 * interval '1 millisecond'
   WHERE id = $1 AND lease_token = $2 RETURNING cancel_requested`,
);
const IS_CLAIMED = 'id = $1 AND lease_token = $2';
const HAND_BACK = sql(
  'hand job back',
  `WITH ${chargeUsageCte(IS_CLAIMED)}
   UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL,
     attempts = attempts - 1
   WHERE ${IS_CLAIMED} AND NOT cancel_requested RETURNING id`,
);
const SUCCEED = sql(
  'finish job with a match',
  `WITH ${chargeUsageCte(IS_CLAIMED)}, ended AS (
     UPDATE verification_jobs SET state = 'succeeded', finished_at = now(), request = NULL, client = NULL, network = NULL,
       lease_token = NULL, lease_until = NULL,
       runtime_match = $3, creation_match = $4, event_id = $5, compile_time_ms = $6,
       kept_beside = $7, dropped_sources = $8, changed_settings = $10
     WHERE ${IS_CLAIMED} RETURNING id
   ), handed_on AS (
     INSERT INTO external_verifications (job_id, explorer)
     SELECT id, unnest($9::text[]) FROM ended WHERE $5 IS NOT NULL
   )
   SELECT id FROM ended`,
);
/** SQL assignments for a failed job, shared by every statement that ends one. */
const failWith = (request: string): string =>
  `SET state = 'failed', finished_at = now(), request = ${request}, client = NULL, network = NULL,
  lease_token = NULL, lease_until = NULL`;
const FAIL_CLAIMED = sql(
  'finish job with a failure',
  `WITH ${chargeUsageCte(IS_CLAIMED)}
   UPDATE verification_jobs ${failWith(keepRequestSql('$7'))}, error_code = $3, error_message = $4, error_id = $5, error_data = $6
   WHERE ${IS_CLAIMED} RETURNING id`,
);
const CANCEL = sql(
  'cancel job',
  // Locks the row first, since a worker may claim the job or hand it back between two reads of its state.
  `WITH found AS MATERIALIZED (
     SELECT id, state FROM verification_jobs
     WHERE id = $1 AND state IN ('queued', 'running') AND client = coalesce($2, client) FOR UPDATE
   ), queued AS (
     UPDATE verification_jobs ${failWith('NULL')}, error_code = 'job_cancelled',
       error_message = 'The verification was cancelled.', error_id = gen_random_uuid()
     WHERE id IN (SELECT id FROM found WHERE state = 'queued') RETURNING id
   ), running AS (
     UPDATE verification_jobs SET cancel_requested = true
     WHERE id IN (SELECT id FROM found WHERE state = 'running') RETURNING id
   )
   SELECT id FROM queued UNION ALL SELECT id FROM running`,
);
const IS_LOST_FOR_NOW = 'lease_until < now() AND attempts < $1 AND NOT cancel_requested';
const IS_LOST_FOR_GOOD = 'lease_until < now() AND (attempts >= $1 OR cancel_requested)';
const REQUEUE_LOST = sql(
  'queue lost jobs again',
  `WITH ${chargeUsageCte(IS_LOST_FOR_NOW)}
   UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND ${IS_LOST_FOR_NOW} FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
const FAIL_LOST = sql(
  'fail lost jobs',
  `WITH ${chargeUsageCte(IS_LOST_FOR_GOOD)}
   UPDATE verification_jobs ${failWith(keepRequestSql('NOT cancel_requested'))}, error_id = gen_random_uuid(),
     error_code = CASE WHEN cancel_requested THEN 'job_cancelled' ELSE 'internal_error' END,
     error_message = CASE WHEN cancel_requested THEN 'The verification was cancelled.'
       ELSE 'The verification was begun ' || attempts || ' times, and each time its process ended before it.' END
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND ${IS_LOST_FOR_GOOD} FOR UPDATE SKIP LOCKED)
   RETURNING id, error_code, extract(epoch FROM finished_at - started_at)::float8 AS seconds`,
);
/**
 * Claims the next job, or returns undefined if none is waiting. Claims are serialized, so that each counts
 * the earlier ones.
 */
export async function claimJob(
  database: Database,
  leaseMs: number,
): Promise<ClaimedJob | undefined> {
  const [state] = await database.query<{ waits: boolean }>(HAS_WAITING);
  if (state?.waits !== true) return undefined;
  const [row] = await database.transaction(async (transaction) => {
    await lockUntilCommit(transaction, 'jobClaims');
    return transaction.query<{
      id: string;
      lease_token: string;
      chain_id: string;
      address: Buffer;
      request: Buffer;
      attempts: number;
      client: string;
      compiler_waits: number;
    }>(CLAIM, [leaseMs]);
  });
  if (row === undefined) return undefined;
  return {
    id: row.id,
    token: row.lease_token,
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    request: row.request,
    attempts: row.attempts,
    client: row.client,
    compilerWaits: row.compiler_waits,
  };
}

/**
 * Renews the lease of a claim and returns whether to continue: the job may have been cancelled, or taken by
 * another worker.
 */
export async function renewLease(
  database: Database,
  { id, token }: ClaimedJob,
  leaseMs: number,
): Promise<'held' | 'cancelled' | 'lost'> {
  const [row] = await database.query<{ cancel_requested: boolean }>(RENEW, [id, token, leaseMs]);
  if (row === undefined) return 'lost';
  return row.cancel_requested ? 'cancelled' : 'held';
}

/** Puts a claimed job back into the queue without counting the attempt. */
export async function releaseJob(database: Database, { id, token }: ClaimedJob): Promise<void> {
  await database.query(HAND_BACK, [id, token]);
  await notifyOfWork(database);
}

/**
 * Ends a claimed job whose match is stored.
 * @param explorers explorers to forward the match to
 * @returns false for a lost claim, which changes nothing
 */
export async function finishWithMatch(
  database: Database,
  { id, token }: ClaimedJob,
  { contract, compileTimeMs, droppedSources, changedSettings }: VerificationResult,
  { eventNumber, keptBeside }: SavedMatch,
  explorers: readonly string[] = [],
): Promise<boolean> {
  const { runtimeMatch, creationMatch } = contract;
  const ended = await database.query(SUCCEED, [
    id,
    token,
    runtimeMatch,
    creationMatch,
    eventNumber ?? null,
    Math.round(compileTimeMs),
    keptBeside === true,
    toStorableJson(toDroppedSources(droppedSources) ?? null),
    explorers,
    toStorableJson(changedSettings ?? null),
  ]);
  await notifyOfEnds(database, ended.length > 0 ? [id] : []);
  return ended.length > 0;
}

/**
 * Ends a claimed job without a match.
 * @returns the id of the failure; undefined for a lost claim, which changes nothing
 */
export async function finishWithFailure(
  database: Database,
  { id, token }: ClaimedJob,
  failure: VerificationFailure,
): Promise<string | undefined> {
  const errorId = randomUUID();
  const ended = await database.query(FAIL_CLAIMED, [
    id,
    token,
    failure.code,
    printableLines(failure.message, MESSAGE_MAX_CHARACTERS),
    errorId,
    toStorableJson(buildFailureRecord(failure)),
    isRetriable(failure.code),
  ]);
  await notifyOfEnds(database, ended.length > 0 ? [id] : []);
  return ended.length > 0 ? errorId : undefined;
}

/**
 * Cancels a job: immediately if it is queued; if it is running, the worker is notified and stops at its next
 * heartbeat at the latest.
 * @param client the client that must have submitted it; any client if absent
 * @returns false if it is not in flight, or belongs to another client
 */
export async function cancelJob(database: Database, id: string, client?: string): Promise<boolean> {
  const rows = await database.query(CANCEL, [id, client ?? null]);
  await notifyOfEnds(database, rows.length > 0 ? [id] : []);
  return rows.length > 0;
}

/** Takes jobs from lost workers: requeues them, or fails them after too many attempts. */
export async function reapJobs(
  database: Database,
): Promise<{ readonly requeued: number; readonly ended: readonly JobEnd[] }> {
  const failed = await database.query<{
    id: string;
    error_code: 'job_cancelled' | 'internal_error';
    seconds: number;
  }>(FAIL_LOST, [MAX_ATTEMPTS]);
  const requeued = await database.query(REQUEUE_LOST, [MAX_ATTEMPTS]);
  await notifyOfEnds(
    database,
    failed.map(({ id }) => id),
  );
  if (requeued.length > 0) await notifyOfWork(database);
  const ended = failed.map(({ error_code: outcome, seconds }) => ({
    kind: failureKindOf(outcome),
    outcome,
    seconds,
  }));
  return { requeued: requeued.length, ended };
}
