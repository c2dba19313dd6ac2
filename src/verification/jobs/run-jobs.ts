import { randomUUID } from 'node:crypto';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { printableLines } from '../../lib/printable-text.ts';
import { toStorableJson } from '../../lib/storable-text.ts';
import type { SavedMatch } from '../../repository/repository.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database, type Statement } from '../../store/database.ts';
import {
  beyondSmallChange,
  chargeFor,
  isSlow,
  joinUsage,
  RUNNING_MS,
  spentMs,
} from './client-usage.ts';
import { FORGET_AWAITED, IS_READY } from './awaited-compilers.ts';
import { notifyOfEnds, notifyOfWork } from './job-notifications.ts';
import { recordOf } from './failure-record.ts';
import { failureKindOf, LIMIT_CODES, type VerificationFailure } from '../verification-failure.ts';
import { toDroppedSources, type JobEnd } from './verification-job.ts';
import { type VerificationResult } from '../verify-contract.ts';

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
  readonly client: string;
  /** The network of the client. */
  readonly network: string;
  /** How often it waited for a compiler. */
  readonly compilerWaits: number;
}

/** Which jobs a worker takes: any, or only those that are not known to take long. */
export type Lane = 'any' | 'short';

/** The client of jobs that the monitor submits. Others are named by their addresses. */
export const MONITOR_CLIENT = 'monitor';

/** A job that is claimed so often without an end does something to its workers. */
export const MAX_ATTEMPTS = 3;
const MESSAGE_MAX_CHARACTERS = 4000;

const HAS_WAITING = sql(
  'find out whether a job waits',
  `SELECT EXISTS (SELECT FROM verification_jobs WHERE state = 'queued') AS waits`,
);

/**
 * The order of networks, then of clients in each: those with the fewest running jobs first, so that nobody takes a
 * second worker while another waits for a first; among them the one that has spent the least time, running jobs
 * included. The worker for short jobs takes clients last that had a slow job not long ago, ignores the time of one short
 * job, and begins with the newest: jobs that fill the queue keep a newcomer waiting for one of them, not for all. The other workers begin with the oldest, so that nobody waits forever.
 */
function orderOf(lane: Lane): string {
  const spentOf = (row: string, running: string): string =>
    `${spentMs(row)} + coalesce(${running}.held_ms, 0)`;
  const [network, client] = [
    spentOf('of_network', 'in_network'),
    spentOf('of_client', 'in_client'),
  ];
  // What the monitor found waits for what people ask.
  const isFound = `waiting.client = '${MONITOR_CLIENT}'`;
  if (lane === 'any') {
    return `${isFound}, coalesce(in_network.jobs, 0), ${network}, coalesce(in_client.jobs, 0), ${client}, turn, created_at`;
  }
  return `${isFound}, ${isSlow('of_network')}, coalesce(in_network.jobs, 0), ${beyondSmallChange(network)},
    ${isSlow('of_client')}, coalesce(in_client.jobs, 0), ${beyondSmallChange(client)}, created_at DESC`;
}

/**
 * Claims the next job. A client's own jobs are served in rounds over its chains.
 *
 * The clients are found by stepping through the index from one to the next, and of each only its next job is read.
 */
function claimStatement(lane: Lane): Statement {
  const isQueued = `state = 'queued' AND ${IS_READY}`;
  const waits = lane === 'any' ? isQueued : `${isQueued} AND NOT slow`;
  const runningOf = (whose: 'network' | 'client'): string =>
    `SELECT ${whose}, count(*) AS jobs, ${RUNNING_MS} AS held_ms
     FROM verification_jobs WHERE state = 'running' GROUP BY ${whose}`;
  return sql(
    `claim job, ${lane}`,
    `WITH RECURSIVE clients AS (
       (SELECT network, client FROM verification_jobs WHERE ${waits} ORDER BY network, client LIMIT 1)
       UNION ALL
       SELECT later.* FROM clients CROSS JOIN LATERAL (
         SELECT each.network, each.client FROM verification_jobs AS each
         WHERE ${waits} AND (each.network, each.client) > (clients.network, clients.client)
         ORDER BY each.network, each.client LIMIT 1) AS later
     ), waiting AS (
       SELECT clients.*, next.* FROM clients CROSS JOIN LATERAL (
         SELECT id, turn, created_at FROM verification_jobs AS each
         WHERE ${waits} AND each.network = clients.network AND each.client = clients.client
         ORDER BY turn, created_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS next
     ), in_network AS (${runningOf('network')}), in_client AS (${runningOf('client')})
     -- Not now(), which is when the transaction began to wait for the lock.
     UPDATE verification_jobs SET state = 'running', attempts = attempts + 1, lease_token = gen_random_uuid(),
       started_at = coalesce(started_at, clock_timestamp()), claimed_at = clock_timestamp(),
       lease_until = clock_timestamp() + $1 * interval '1 millisecond', ${FORGET_AWAITED}
     WHERE id = (
       SELECT waiting.id FROM waiting LEFT JOIN in_network ON in_network.network = waiting.network
         LEFT JOIN in_client ON in_client.client = waiting.client
         ${joinUsage('waiting.network', 'waiting.client')}
       ORDER BY ${orderOf(lane)} LIMIT 1)
     RETURNING id, lease_token, chain_id, address, request, attempts, client, network, compiler_waits`,
  );
}
const CLAIM: Readonly<Record<Lane, Statement>> = {
  any: claimStatement('any'),
  short: claimStatement('short'),
};
const RENEW = sql(
  'renew lease',
  `UPDATE verification_jobs SET lease_until = now() + $3 * interval '1 millisecond'
   WHERE id = $1 AND lease_token = $2 RETURNING cancel_requested`,
);
const IS_CLAIMED = 'id = $1 AND lease_token = $2';
const HAND_BACK = sql(
  'hand job back',
  `WITH ${chargeFor(IS_CLAIMED, '$3')}
   UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL,
     attempts = attempts - 1, slow = slow OR $3
   WHERE ${IS_CLAIMED} AND NOT cancel_requested RETURNING id`,
);
const SUCCEED = sql(
  'finish job with a match',
  `WITH ${chargeFor(IS_CLAIMED)}, ended AS (
     UPDATE verification_jobs SET state = 'succeeded', finished_at = now(), request = NULL, client = NULL, network = NULL,
       lease_token = NULL, lease_until = NULL,
       runtime_match = $3, creation_match = $4, event_id = $5, compile_time_ms = $6,
       kept_beside = $7, dropped_sources = $8
     WHERE ${IS_CLAIMED} RETURNING id
   ), handed_on AS (
     INSERT INTO external_verifications (job_id, explorer)
     SELECT id, unnest($9::text[]) FROM ended WHERE $5 IS NOT NULL
   )
   SELECT id FROM ended`,
);
/** SQL: the columns of a failed job, for every statement that ends one. */
export const FAIL = `SET state = 'failed', finished_at = now(), request = NULL, client = NULL, network = NULL,
  lease_token = NULL, lease_until = NULL`;
const FAIL_CLAIMED = sql(
  'finish job with a failure',
  `WITH ${chargeFor(IS_CLAIMED, '$7')}
   UPDATE verification_jobs ${FAIL}, error_code = $3, error_message = $4, error_id = $5, error_data = $6
   WHERE ${IS_CLAIMED} RETURNING id`,
);
const CANCEL = sql(
  'cancel job',
  `WITH queued AS (
     UPDATE verification_jobs ${FAIL}, error_code = 'job_cancelled',
       error_message = 'The verification was cancelled.', error_id = gen_random_uuid()
     WHERE id = $1 AND state = 'queued' AND client = coalesce($2, client) RETURNING id
   ), running AS (
     UPDATE verification_jobs SET cancel_requested = true
     WHERE id = $1 AND state = 'running' AND client = coalesce($2, client) RETURNING id
   )
   SELECT id FROM queued UNION ALL SELECT id FROM running`,
);
const IS_LOST_FOR_NOW = 'lease_until < now() AND attempts < $1 AND NOT cancel_requested';
const IS_LOST_FOR_GOOD = 'lease_until < now() AND (attempts >= $1 OR cancel_requested)';
const REQUEUE_LOST = sql(
  'queue lost jobs again',
  `WITH ${chargeFor(IS_LOST_FOR_NOW)}
   UPDATE verification_jobs SET state = 'queued', lease_token = NULL, lease_until = NULL
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND ${IS_LOST_FOR_NOW} FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
const FAIL_LOST = sql(
  'fail lost jobs',
  `WITH ${chargeFor(IS_LOST_FOR_GOOD)}
   UPDATE verification_jobs ${FAIL}, error_id = gen_random_uuid(),
     error_code = CASE WHEN cancel_requested THEN 'job_cancelled' ELSE 'internal_error' END,
     error_message = CASE WHEN cancel_requested THEN 'The verification was cancelled.'
       ELSE 'The verification was begun ' || attempts || ' times, and each time its process ended before it.' END
   WHERE id IN (SELECT id FROM verification_jobs
     WHERE state = 'running' AND ${IS_LOST_FOR_GOOD} FOR UPDATE SKIP LOCKED)
   RETURNING id, error_code, extract(epoch FROM finished_at - started_at)::float8 AS seconds`,
);
// Whom to make room for: a network that has spent at most half as much, or a client of the same network that has. With
// less distance, clients of about the same spending would put each other's jobs back in turns, and none would end.
const totalOf = (whose: 'network' | 'client', name: string): string => `(
  coalesce((SELECT ${spentMs()} FROM client_usage WHERE client = ${name}), 0)
  + coalesce((SELECT ${RUNNING_MS} FROM verification_jobs AS held
      WHERE held.state = 'running' AND held.${whose} = ${name}), 0))`;
const DO_OTHERS_WAIT = sql(
  'find out whether other clients wait',
  `WITH other AS (SELECT DISTINCT network, client FROM verification_jobs
     WHERE state = 'queued' AND NOT slow AND ${IS_READY})
   SELECT EXISTS (SELECT FROM other WHERE network <> $2
       AND 2 * ${totalOf('network', 'other.network')} <= ${totalOf('network', '$2')})
     OR EXISTS (SELECT FROM other WHERE network = $2 AND client <> $1
       AND 2 * ${totalOf('client', 'other.client')} <= ${totalOf('client', '$1')}) AS wait`,
);

/**
 * Takes the job whose turn it is, or returns undefined when none waits. Claims come one after another, so that each
 * counts those before it.
 */
export async function claimJob(
  database: Database,
  leaseMs: number,
  lane: Lane = 'any',
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
      network: string;
      compiler_waits: number;
    }>(CLAIM[lane], [leaseMs]);
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
    network: row.network,
    compilerWaits: row.compiler_waits,
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

/**
 * Puts a claimed job back into the queue. The claim does not count as an attempt.
 * @param isSlow whether the job was found to take long.
 */
export async function handBack(
  database: Database,
  { id, token }: ClaimedJob,
  isSlow: boolean,
): Promise<void> {
  await database.query(HAND_BACK, [id, token, isSlow]);
  await notifyOfWork(database);
}

/** Whether jobs of clients wait that have spent much less time, and that are not known to take long. */
export async function doOthersWait(
  database: Database,
  { client, network }: Pick<ClaimedJob, 'client' | 'network'>,
): Promise<boolean> {
  const [row] = await database.query<{ wait: boolean }>(DO_OTHERS_WAIT, [client, network]);
  return row?.wait === true;
}

/**
 * Ends a claimed job whose match is stored.
 * @param explorers that are to be told of the match
 * @returns false for a claim that was lost: it changes nothing
 */
export async function finishWithMatch(
  database: Database,
  { id, token }: ClaimedJob,
  { contract, compileTimeMs, droppedSources }: VerificationResult,
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
  ]);
  await notifyOfEnds(database, ended.length > 0 ? [id] : []);
  return ended.length > 0;
}

/**
 * Ends a claimed job without a match.
 * @returns the id under which the failure is known; undefined for a claim that was lost: it changes nothing.
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
    toStorableJson(recordOf(failure)),
    LIMIT_CODES.has(failure.code),
  ]);
  await notifyOfEnds(database, ended.length > 0 ? [id] : []);
  return ended.length > 0 ? errorId : undefined;
}

/**
 * Cancels a job: at once while it waits, within a heartbeat while it runs.
 * @param client who must have submitted it; anybody unless told
 * @returns false when it is not in flight, or another client's
 */
export async function cancelJob(database: Database, id: string, client?: string): Promise<boolean> {
  const rows = await database.query(CANCEL, [id, client ?? null]);
  await notifyOfEnds(database, rows.length > 0 ? [id] : []);
  return rows.length > 0;
}

/** Takes jobs from workers that are gone: back into the queue, or to their end after too many attempts. */
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
