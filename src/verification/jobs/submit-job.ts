import { FullmatchError } from '../../errors.ts';
import { networkOf } from '../../lib/client-network.ts';
import { checksumAddress, hexToBytes } from '../../lib/hex.ts';
import type { Match } from '../../repository/repository.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database } from '../../store/database.ts';
import { beyondSmallChange, isSlow, joinUsage, spentMs } from './client-usage.ts';
import { notifyOfEnds, notifyOfWork } from './job-notifications.ts';
import { FAIL } from './run-jobs.ts';
import { type PackedRequest } from '../verification-request.ts';

/** How many jobs may wait. */
export interface QueueLimits {
  readonly total: number;
  /** For one client, and for all clients of its network together. */
  readonly perClient: number;
  /** Whether a job may take the place of another client's in a full queue, as it may unless told otherwise. */
  readonly displaces?: boolean;
}

/** How long a client that found the queue full should wait, in seconds: a worker ends most jobs in less. */
const RETRY_AFTER_S = 5;

const READ_MATCHES = sql(
  'read matches before submitting',
  `SELECT runtime_match, creation_match FROM current_matches
   WHERE chain_id = $1 AND address = $2 AND origin <> 'imported'`,
);

// A client's job takes its turn after the latest one on the same chain, so that its chains are served in rounds.
//
// Where the queue is full, the network with the most waiting jobs gives up the last job of its client with the most, to a
// network that has fewer by more than one. Of networks with one job more than the newcomer's the one gives up whose jobs
// were found slow or that has spent more time: among them a network without a waiting job always finds a place where
// another's jobs are slow. Within a network its clients give place to each other by the same rule.
const SUBMIT = sql(
  'submit verification job',
  `WITH lines AS (
     SELECT network, client, count(*)::int AS jobs, bool_or(slow) AS slow
     FROM verification_jobs WHERE state = 'queued' GROUP BY network, client
   ), ranked AS (
     SELECT lines.network, lines.client, jobs, sum(jobs) OVER of_line AS network_jobs,
       bool_or(slow) OVER of_line OR ${isSlow('of_network')} AS network_slow,
       slow OR ${isSlow('of_client')} AS slow,
       ${beyondSmallChange(spentMs('of_network'))} AS network_ms,
       ${beyondSmallChange(spentMs('of_client'))} AS ms
     FROM lines ${joinUsage('lines.network', 'lines.client')} WINDOW of_line AS (PARTITION BY lines.network)
   ), waiting AS (
     SELECT coalesce(sum(jobs), 0)::int AS total,
       coalesce(sum(jobs) FILTER (WHERE network = $8), 0)::int AS of_network,
       coalesce(sum(jobs) FILTER (WHERE client = $4), 0)::int AS of_client
     FROM lines
   ), newcomer AS (
     SELECT waiting.*, ${isSlow('of_network')} AS network_slow, ${isSlow('of_client')} AS slow,
       ${beyondSmallChange(spentMs('of_network'))} AS network_ms,
       ${beyondSmallChange(spentMs('of_client'))} AS ms
     FROM waiting ${joinUsage('$8', '$4')}
   ), in_flight AS (
     SELECT id FROM verification_jobs
     WHERE chain_id = $1 AND address = $2 AND input_hash = $3 AND state IN ('queued', 'running')
   ), place AS (
     SELECT line.network, line.client FROM newcomer AS own, ranked AS line
     WHERE $9 AND of_client < $7 AND NOT EXISTS (SELECT FROM in_flight) AND CASE
       WHEN line.network <> $8 THEN total >= $6 AND of_network < $7 AND (line.network_jobs > of_network + 1
         OR line.network_jobs = of_network + 1
           AND (line.network_slow, line.network_ms) > (own.network_slow, own.network_ms))
       WHEN line.client <> $4 THEN (total >= $6 OR of_network >= $7) AND (line.jobs > of_client + 1
         OR line.jobs = of_client + 1 AND (line.slow, line.ms) > (own.slow, own.ms))
       ELSE false END
     ORDER BY line.network = $8, network_jobs DESC, line.network_slow DESC, line.network_ms DESC, line.network,
       line.jobs DESC, line.slow DESC, line.ms DESC LIMIT 1
   ), displaced AS (
     UPDATE verification_jobs ${FAIL}, error_code = 'job_displaced', error_id = gen_random_uuid(),
       error_message = 'The queue was full, and this was the last verification of the client with the most of them.'
     WHERE id = (SELECT id FROM verification_jobs JOIN place USING (network, client) WHERE state = 'queued'
       ORDER BY slow DESC, turn DESC, created_at DESC LIMIT 1 FOR UPDATE OF verification_jobs SKIP LOCKED)
     RETURNING id
   ), submitted AS (
     INSERT INTO verification_jobs (chain_id, address, input_hash, client, network, request, turn)
     SELECT $1, $2, $3, $4, $8, $5, greatest(
       (SELECT coalesce(max(turn) + 1, 0) FROM verification_jobs
        WHERE state IN ('queued', 'running') AND client = $4 AND chain_id = $1),
       (SELECT coalesce(min(turn), 0) FROM verification_jobs WHERE state = 'queued' AND client = $4))
     FROM waiting WHERE of_client < $7 AND (total < $6 AND of_network < $7 OR EXISTS (SELECT FROM displaced))
       AND NOT EXISTS (SELECT FROM in_flight)
     RETURNING id
   )
   SELECT (SELECT id FROM submitted) AS id, (SELECT id FROM in_flight) AS in_flight,
     (SELECT id FROM displaced) AS displaced,
     total >= $6 AS is_full
   FROM waiting`,
);

interface Submitted {
  readonly id: string | null;
  readonly in_flight: string | null;
  readonly displaced: string | null;
  readonly is_full: boolean;
}

/**
 * Puts a verification into the queue. Any text that is unique to a client may identify it.
 * @param onDisplaced told when another client's job gave up its place.
 * @returns the job's id.
 * @throws FullmatchError already_verified when both matches are full and were judged here, so that nothing can rise;
 * duplicate_verification_request with `details.verificationId`; queue_full with `details.retryAfterSeconds`.
 */
export async function submitJob(
  database: Database,
  request: PackedRequest,
  client: string,
  limits: QueueLimits,
  onDisplaced?: () => void,
): Promise<string> {
  const { chainId, address, packed, inputHash } = request;
  const addressBytes = hexToBytes(address);
  const [current] = await database.query<{
    runtime_match: Match | null;
    creation_match: Match | null;
  }>(READ_MATCHES, [chainId, addressBytes]);
  if (current?.runtime_match === 'full' && current.creation_match === 'full') {
    throw new FullmatchError(
      'already_verified',
      `The contract ${checksumAddress(address)} on chain ${chainId} is verified already: runtime code and creation code match fully.`,
      { details: { chainId, address: checksumAddress(address) } },
    );
  }
  const [submitted] = await database.transaction(async (transaction) => {
    // Counting while another submission takes a place would find room that is gone.
    await lockUntilCommit(transaction, 'jobPlaces');
    return transaction.query<Submitted>(SUBMIT, [
      chainId,
      addressBytes,
      Buffer.from(inputHash),
      client,
      Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength),
      limits.total,
      limits.perClient,
      networkOf(client),
      limits.displaces ?? true,
    ]);
  });
  if (submitted === undefined) throw new Error('counting the jobs gave no row');
  const { id, displaced } = submitted;
  if (displaced !== null) {
    onDisplaced?.();
    await notifyOfEnds(database, [displaced]);
  }
  if (id === null) throw refusalOf(submitted, request, limits);
  await notifyOfWork(database);
  return id;
}

function refusalOf(
  submitted: Submitted,
  { chainId, address }: PackedRequest,
  limits: QueueLimits,
): FullmatchError {
  const details = { retryAfterSeconds: RETRY_AFTER_S };
  if (submitted.in_flight !== null) {
    return new FullmatchError(
      'duplicate_verification_request',
      `The contract ${checksumAddress(address)} on chain ${chainId} is being verified with this input.`,
      { details: { ...details, verificationId: submitted.in_flight } },
    );
  }
  const full = submitted.is_full
    ? `${limits.total} verifications`
    : `${limits.perClient} verifications of this client or its network`;
  const message = `${full} wait already; try again in ${RETRY_AFTER_S} seconds.`;
  return new FullmatchError('queue_full', message, { details });
}
