import { FullmatchError } from '../../errors.ts';
import { networkOf } from '../../lib/client-network.ts';
import { checksumAddress, hexToBytes } from '../../lib/hex.ts';
import type { Match } from '../../repository/repository.ts';
import { lockUntilCommit } from '../../store/advisory-locks.ts';
import { sql, type Database } from '../../store/database.ts';
import { notifyOfWork } from './job-notifications.ts';
import { type PackedRequest } from '../verification-request.ts';

/** Limits on the number of queued jobs. */
export interface QueueLimits {
  readonly total: number;
  readonly perClient: number;
}

/** Retry-After for a full queue, in seconds: a worker ends most jobs in less. */
const RETRY_AFTER_S = 5;

const READ_MATCHES = sql(
  'read matches before submitting',
  `SELECT runtime_match, creation_match FROM current_matches
   WHERE chain_id = $1 AND address = $2 AND origin <> 'imported'`,
);

// A client's job is queued after its latest job on the same chain, so that its chains are served round-robin.
const SUBMIT = sql(
  'submit verification job',
  `WITH waiting AS (
     SELECT count(*)::int AS total, (count(*) FILTER (WHERE client = $4))::int AS of_client
     FROM verification_jobs WHERE state = 'queued'
   ), in_flight AS (
     SELECT id FROM verification_jobs
     WHERE chain_id = $1 AND address = $2 AND input_hash = $3 AND state IN ('queued', 'running')
   ), submitted AS (
     INSERT INTO verification_jobs (chain_id, address, input_hash, client, network, request, turn)
     SELECT $1, $2, $3, $4, $8, $5, greatest(
       (SELECT coalesce(max(turn) + 1, 0) FROM verification_jobs
        WHERE state IN ('queued', 'running') AND client = $4 AND chain_id = $1),
       (SELECT coalesce(min(turn), 0) FROM verification_jobs WHERE state = 'queued' AND client = $4))
     FROM waiting WHERE of_client < $7 AND total < $6 AND NOT EXISTS (SELECT FROM in_flight)
     RETURNING id
   )
   SELECT (SELECT id FROM submitted) AS id, (SELECT id FROM in_flight) AS in_flight, total >= $6 AS is_full
   FROM waiting`,
);

interface Submitted {
  readonly id: string | null;
  readonly in_flight: string | null;
  readonly is_full: boolean;
}

/**
 * Queues a verification. `client` may be any text that is unique to the client.
 * @returns the job's id.
 * @throws FullmatchError already_verified if both matches are full and were found by this service, so that
 * nothing can improve; duplicate_verification_request with `details.verificationId`; queue_full with
 * `details.retryAfterSeconds`.
 */
export async function submitJob(
  database: Database,
  request: PackedRequest,
  client: string,
  limits: QueueLimits,
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
      `The contract ${checksumAddress(address)} on chain ${chainId} is already verified: runtime and creation code match fully.`,
      { details: { chainId, address: checksumAddress(address) } },
    );
  }
  const [submitted] = await database.transaction(async (transaction) => {
    // Counts under a lock: otherwise concurrent submissions could take the same last place.
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
    ]);
  });
  if (submitted === undefined) throw new Error('counting the jobs gave no row');
  const { id } = submitted;
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
      `The contract ${checksumAddress(address)} on chain ${chainId} is already being verified with this input.`,
      { details: { ...details, verificationId: submitted.in_flight } },
    );
  }
  const full = submitted.is_full
    ? `${limits.total} verifications`
    : `${limits.perClient} verifications of this client`;
  const message = `${full} are already waiting; try again in ${RETRY_AFTER_S} seconds.`;
  return new FullmatchError('queue_full', message, { details });
}
