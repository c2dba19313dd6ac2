import { FullmatchError } from '../errors.ts';
import { checksumAddress, hexToBytes } from '../lib/hex.ts';
import { type Match } from '../repository/verified-contract.ts';
import { sql, type Database } from '../store/database.ts';
import { SPENT_MS } from './client-usage.ts';
import { notifyOfEnds, notifyOfWork } from './job-notifications.ts';
import { FAIL } from './run-jobs.ts';
import { type PackedRequest } from './verification-request.ts';

/** How many jobs may wait. */
export interface QueueLimits {
  readonly total: number;
  /** Of one client. */
  readonly perClient: number;
}

/** How long a client that found the queue full should wait, in seconds: a worker ends most jobs in less. */
const RETRY_AFTER_S = 5;

const READ_MATCHES = sql(
  'read matches before submitting',
  'SELECT runtime_match, creation_match FROM current_matches WHERE chain_id = $1 AND address = $2',
);

// A client's job takes its turn after the latest one on the same chain, so that its chains are served in rounds.
// Where the queue is full, the client with the longest line gives up its last job to one whose line is shorter by more
// than one; of lines of the same length, the one whose client has spent the most time counts as the longest.
const SUBMIT = sql(
  'submit verification job',
  `WITH lines AS (
     SELECT client, count(*)::int AS jobs FROM verification_jobs WHERE state = 'queued' GROUP BY client
   ), waiting AS (
     SELECT coalesce(sum(jobs), 0)::int AS total,
       coalesce(sum(jobs) FILTER (WHERE client = $4), 0)::int AS of_client,
       coalesce((SELECT ${SPENT_MS} FROM client_usage WHERE client = $4), 0) AS spent_ms
     FROM lines
   ), in_flight AS (
     SELECT id FROM verification_jobs
     WHERE chain_id = $1 AND address = $2 AND input_hash = $3 AND state IN ('queued', 'running')
   ), longest AS (
     SELECT lines.client FROM waiting, lines LEFT JOIN client_usage USING (client)
     WHERE total >= $6 AND of_client < $7 AND client <> $4 AND NOT EXISTS (SELECT FROM in_flight)
       AND (jobs > of_client + 1 OR jobs = of_client + 1 AND coalesce(${SPENT_MS}, 0) > waiting.spent_ms)
     ORDER BY jobs DESC, coalesce(${SPENT_MS}, 0) DESC LIMIT 1
   ), displaced AS (
     UPDATE verification_jobs ${FAIL}, error_code = 'job_displaced', error_id = gen_random_uuid(),
       error_message = 'The queue was full, and this was the last verification of the client with the most of them.'
     WHERE id = (SELECT id FROM verification_jobs JOIN longest USING (client) WHERE state = 'queued'
       ORDER BY turn DESC, created_at DESC LIMIT 1 FOR UPDATE OF verification_jobs SKIP LOCKED)
     RETURNING id
   ), submitted AS (
     INSERT INTO verification_jobs (chain_id, address, input_hash, client, request, turn)
     SELECT $1, $2, $3, $4, $5, greatest(
       (SELECT coalesce(max(turn) + 1, 0) FROM verification_jobs
        WHERE state IN ('queued', 'running') AND client = $4 AND chain_id = $1),
       (SELECT coalesce(min(turn), 0) FROM verification_jobs WHERE state = 'queued' AND client = $4))
     FROM waiting WHERE of_client < $7 AND (total < $6 OR EXISTS (SELECT FROM displaced))
     ON CONFLICT (chain_id, address, input_hash) WHERE state IN ('queued', 'running') DO NOTHING
     RETURNING id
   )
   SELECT (SELECT id FROM submitted) AS id, (SELECT id FROM in_flight) AS in_flight,
     (SELECT id FROM displaced) AS displaced,
     total >= $6 AS is_full, of_client >= $7 AS is_full_for_client
   FROM waiting`,
);

interface Submitted {
  readonly id: string | null;
  readonly in_flight: string | null;
  readonly displaced: string | null;
  readonly is_full: boolean;
  readonly is_full_for_client: boolean;
}

/**
 * Puts a verification into the queue, for a client that is told apart from others by any text.
 * @param onDisplaced told when another client's job gave up its place.
 * @returns the job's id.
 * @throws FullmatchError already_verified when both matches are full, so that nothing can rise;
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
  const [submitted] = await database.query<Submitted>(SUBMIT, [
    chainId,
    addressBytes,
    Buffer.from(inputHash),
    client,
    Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength),
    limits.total,
    limits.perClient,
  ]);
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
  if (submitted.in_flight === null && submitted.is_full) {
    const message = `${limits.total} verifications wait already; try again in ${RETRY_AFTER_S} seconds.`;
    return new FullmatchError('queue_full', message, { details });
  }
  if (submitted.in_flight === null && submitted.is_full_for_client) {
    const message = `${limits.perClient} verifications of this client wait already; try again in ${RETRY_AFTER_S} seconds.`;
    return new FullmatchError('queue_full', message, { details });
  }
  return new FullmatchError(
    'duplicate_verification_request',
    `The contract ${checksumAddress(address)} on chain ${chainId} is being verified with this input.`,
    // Absent when the other one was submitted in the same moment.
    {
      details: {
        ...details,
        ...(submitted.in_flight !== null && { verificationId: submitted.in_flight }),
      },
    },
  );
}
