import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** A due creation, held by a lease. */
export interface WaitingCreation {
  readonly chainId: number;
  readonly address: Hex;
  readonly blockNumber: number;
  readonly transactionHash: Hex;
  /** SHA-256 of its bytecode, if that was read before. */
  readonly codeHash?: Buffer;
  /** Number of failed tries. */
  readonly tries: number;
  /** Its stage, see {@link Stage}. */
  readonly stage: Stage;
}

/**
 * `code`: checks whether the bytecode is known, which needs no gateway; `sources`: the bytecode is unknown
 * and sources are searched.
 */
export type Stage = 'code' | 'sources';

/** Hashes of a creation's bytecode; absent if it was not read. */
export interface ReadHashes {
  /** SHA-256 of the bytecode. */
  readonly codeHash?: Buffer;
  /** SHA-256 of the masked bytecode. */
  readonly maskedHash?: Uint8Array;
}

/** Outcome of a try, which is stored in the creation's row. */
export type AttemptOutcome =
  /** How it was verified: `known_code`, `already_verified`, or `sources` when its job has ended. */
  | { readonly kind: 'verified'; readonly reason: string }
  | { readonly kind: 'verifying'; readonly jobId: string }
  /** Its bytecode is unknown, so it moves to the stage `sources`. */
  | { readonly kind: 'unknown_code' }
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly detail: string;
      readonly afterMs: number;
      /** Whether it counts as a try. */
      readonly isTry: boolean;
    }
  | { readonly kind: 'given_up' | 'gone'; readonly reason: string; readonly detail: string };

/** Most creations that one new known bytecode makes due at once; the others follow by their back-off. */
const MAX_REVIVED = 20_000;

const COLUMNS = `chain_id, address, block_number, transaction_hash, code_hash, tries, sources_turn`;
/** Turn of creations that failed before: after all new ones. */
const LAST_TURN = 1_000_000;
/** Most creations of one creator with distinct turns; further ones share the last turn. */
const MAX_TURNS = 1000;

// Selects the first due creations of each monitored chain, so that a chain that is no longer monitored costs
// nothing. A held creation has a due time in the future, so other claims skip it without a lock.
const claimStatement = (stage: Stage, isInStage: string, order: string) =>
  sql(
    `claim seen creations for their ${stage}`,
    `WITH due AS (
       SELECT each.* FROM unnest($1::bigint[]) AS monitored (id) CROSS JOIN LATERAL (
         SELECT chain_id, address, block_number, sources_turn, next_try_at FROM seen_creations
         WHERE chain_id = monitored.id AND state = 'waiting' AND ${isInStage} AND next_try_at <= now()
         ORDER BY ${order} LIMIT $2 FOR UPDATE SKIP LOCKED) AS each
     ), chosen AS (SELECT * FROM due ORDER BY ${order} LIMIT $2)
     UPDATE seen_creations AS seen SET lease_token = $3, lease_until = now() + $4 * interval '1 millisecond',
       next_try_at = now() + $4 * interval '1 millisecond'
     FROM chosen WHERE (seen.chain_id, seen.address, seen.block_number)
       = (chosen.chain_id, chosen.address, chosen.block_number)
     RETURNING ${COLUMNS.replaceAll(/\b(?=\w)/g, 'seen.')}`,
  );
const CLAIM = {
  code: claimStatement('code', 'sources_turn IS NULL', 'next_try_at'),
  sources: claimStatement('sources', 'sources_turn IS NOT NULL', 'sources_turn, next_try_at'),
};
const RENEW = sql(
  'renew leases of seen creations',
  `UPDATE seen_creations SET lease_until = now() + $2 * interval '1 millisecond',
     next_try_at = now() + $2 * interval '1 millisecond'
   WHERE lease_token = $1 AND state = 'waiting'
     AND (chain_id, address, block_number) IN (SELECT * FROM unnest($3::bigint[], $4::bytea[], $5::bigint[]))`,
);
const ROW = 'chain_id = $1 AND address = $2 AND block_number = $3';
const SETTLE = sql(
  'settle try of seen creation',
  `UPDATE seen_creations SET state = $5::creation_state, reason = $6::text, detail = $7::text, job_id = $8::uuid,
     code_hash = coalesce($9::bytea, code_hash), masked_hash = coalesce($12::bytea, masked_hash), tries = tries + $10::int,
     sources_turn = CASE WHEN $10::int > 0 AND sources_turn IS NOT NULL THEN ${LAST_TURN} ELSE sources_turn END,
     next_try_at = CASE WHEN $5::creation_state IN ('waiting', 'verifying') THEN now() + $11::float8 * interval '1 millisecond' END,
     ended_at = CASE WHEN $5::creation_state NOT IN ('waiting', 'verifying') THEN now() END,
     lease_token = NULL, lease_until = NULL
   WHERE ${ROW} AND lease_token = $4`,
);
// Waiting creations are counted with their own index, up to the maximum number of turns.
const MOVE = sql(
  'move seen creation to the stage of sources',
  `UPDATE seen_creations AS seen SET code_hash = coalesce($5::bytea, code_hash),
     masked_hash = coalesce($6::bytea, masked_hash), next_try_at = now(), lease_token = NULL, lease_until = NULL,
     sources_turn = CASE WHEN tries > 0 THEN ${LAST_TURN} ELSE (SELECT count(*) FROM (
       SELECT FROM seen_creations AS other WHERE other.chain_id = seen.chain_id AND other.creator = seen.creator
         AND other.state = 'waiting' AND other.sources_turn IS NOT NULL LIMIT ${MAX_TURNS}) AS before) END
   WHERE ${ROW} AND lease_token = $4`,
);
const SETTLE_JOB = sql(
  'settle job of seen creation',
  `UPDATE seen_creations SET state = $5::creation_state, reason = $6::text, detail = $7::text, sources_turn = ${LAST_TURN},
     next_try_at = CASE WHEN $5::creation_state = 'waiting' THEN now() + $8::float8 * interval '1 millisecond' END,
     ended_at = CASE WHEN $5::creation_state <> 'waiting' THEN now() END, job_id = CASE WHEN $5::creation_state <> 'waiting' THEN job_id END
   WHERE ${ROW} AND state = 'verifying' AND job_id = $4`,
);
// At most the monitor's share of the queue, read with its own index.
const READ_ENDED_JOBS = sql(
  'read ended jobs of seen creations',
  `SELECT seen.chain_id, seen.address, block_number, seen.transaction_hash, code_hash, tries, sources_turn, job_id,
     job.state AS job_state, job.error_code, job.error_message
   FROM seen_creations AS seen LEFT JOIN verification_jobs AS job ON job.id = job_id
   WHERE seen.state = 'verifying' AND (job.id IS NULL OR job.state IN ('succeeded', 'failed')) LIMIT 1000`,
);
const COUNT_VERIFYING = sql(
  'count seen creations in the queue',
  `SELECT count(*)::int AS verifying, coalesce(bool_or(code_hash = $1::bytea), false) AS has_same_code
   FROM seen_creations WHERE state = 'verifying'`,
);

const READ_NEWEST_CODE = sql(
  'read newest known code',
  'SELECT coalesce(max(id), 0) AS id FROM known_codes',
);
// Skips held creations, which are checked against the current known bytecode anyway.
const REVIVE = sql(
  'try seen creations of new known codes again',
  `UPDATE seen_creations SET state = 'waiting', next_try_at = now(), ended_at = NULL, sources_turn = NULL
   WHERE (chain_id, address, block_number) IN (
     SELECT chain_id, address, block_number FROM seen_creations
     WHERE state IN ('waiting', 'given_up') AND lease_token IS NULL AND masked_hash IS NOT NULL
       AND masked_hash IN (SELECT masked_hash FROM known_codes WHERE id > $1 AND id <= $2)
     LIMIT ${MAX_REVIVED} FOR UPDATE SKIP LOCKED)`,
);

/** Returns the id of the newest known bytecode. Later ids are larger, except for those being added concurrently. */
export async function readNewestKnownCode(database: Queryable): Promise<number> {
  const [row] = await database.query<{ id: string }>(READ_NEWEST_CODE);
  return Number(row?.id ?? 0);
}

/** Makes creations due whose bytecode became known, including abandoned ones. */
export async function requeueKnownCreations(
  database: Queryable,
  after: number,
  upTo: number,
): Promise<void> {
  await database.query(REVIVE, [after, upTo]);
}

const RETRY = sql(
  'try seen creations again',
  `UPDATE seen_creations SET state = 'waiting', next_try_at = now(), ended_at = NULL, tries = 0, sources_turn = NULL
   WHERE chain_id = ANY ($1::bigint[]) AND (state = 'waiting' AND lease_token IS NULL OR $4 AND state = 'given_up')
     AND ($2::bytea IS NULL OR address = $2) AND ($3::text IS NULL OR reason = $3)
   RETURNING 1`,
);

/**
 * Makes waiting creations due, as if they were new.
 * @returns how many
 */
export async function retryCreations(
  database: Queryable,
  chainIds: readonly number[],
  only: { readonly address?: Hex; readonly reason?: string; readonly isGivenUp: boolean },
): Promise<number> {
  const address = only.address === undefined ? null : hexToBytes(only.address);
  const values = [chainIds, address, only.reason ?? null, only.isGivenUp];
  return (await database.query(RETRY, values)).length;
}

interface CreationRow {
  readonly chain_id: string;
  readonly address: Buffer;
  readonly block_number: string;
  readonly transaction_hash: Buffer;
  readonly code_hash: Buffer | null;
  readonly tries: number;
  readonly sources_turn: number | null;
}

function toCreation(row: CreationRow): WaitingCreation {
  return {
    chainId: Number(row.chain_id),
    address: bytesToHex(row.address),
    blockNumber: Number(row.block_number),
    transactionHash: bytesToHex(row.transaction_hash),
    ...(row.code_hash && { codeHash: row.code_hash }),
    tries: row.tries,
    stage: row.sources_turn === null ? 'code' : 'sources',
  };
}

/** Claims due creations of a stage that no process holds. When a lease expires, others may claim them. */
export async function claimCreations(
  database: Queryable,
  chainIds: readonly number[],
  { stage, most }: { readonly stage: Stage; readonly most: number },
  lease: { readonly token: string; readonly ms: number },
): Promise<readonly WaitingCreation[]> {
  const rows = await database.query<CreationRow>(CLAIM[stage], [
    ...[chainIds, most, lease.token, lease.ms],
  ]);
  return rows.map(toCreation);
}

/** Extends the leases of creations. */
export async function renewCreations(
  database: Queryable,
  creations: readonly WaitingCreation[],
  lease: { readonly token: string; readonly ms: number },
): Promise<void> {
  await database.query(RENEW, [
    lease.token,
    lease.ms,
    creations.map(({ chainId }) => chainId),
    creations.map(({ address }) => hexToBytes(address)),
    creations.map(({ blockNumber }) => blockNumber),
  ]);
}

function keyOf({ chainId, address, blockNumber }: WaitingCreation): readonly unknown[] {
  return [chainId, hexToBytes(address), blockNumber];
}

/** Stores the outcome of a try. Does nothing if the lease was lost or the chain replaced the creation. */
export async function recordTrialOutcome(
  database: Queryable,
  creation: WaitingCreation,
  token: string,
  outcome: AttemptOutcome,
  code: Pick<ReadHashes, 'codeHash' | 'maskedHash'>,
): Promise<void> {
  const { kind } = outcome;
  if (kind === 'unknown_code') {
    const hashes = [code.codeHash ?? null, code.maskedHash ?? null];
    await database.query(MOVE, [...keyOf(creation), token, ...hashes]);
    return;
  }
  await database.query(SETTLE, [
    ...keyOf(creation),
    token,
    kind,
    kind === 'verifying' ? null : outcome.reason,
    'detail' in outcome ? outcome.detail : null,
    kind === 'verifying' ? outcome.jobId : null,
    code.codeHash ?? null,
    kind === 'waiting' && !outcome.isTry ? 0 : 1,
    kind === 'waiting' ? outcome.afterMs : 0,
    code.maskedHash ?? null,
  ]);
}

/** Stores the outcome of a creation's job, once. */
export async function storeJobOutcome(
  database: Queryable,
  creation: WaitingCreation,
  jobId: string,
  outcome: Exclude<AttemptOutcome, { kind: 'verifying' | 'unknown_code' }>,
): Promise<void> {
  await database.query(SETTLE_JOB, [
    ...keyOf(creation),
    jobId,
    outcome.kind,
    outcome.reason,
    'detail' in outcome ? outcome.detail : null,
    outcome.kind === 'waiting' ? outcome.afterMs : 0,
  ]);
}

/** A creation whose job has ended or is no longer stored. */
export interface EndedJob {
  readonly creation: WaitingCreation;
  readonly jobId: string;
  readonly state: 'succeeded' | 'failed' | undefined;
  readonly code: string;
  readonly message: string;
}

/** Reads the creations whose jobs have ended, of all processes. */
export async function readEndedJobs(database: Queryable): Promise<readonly EndedJob[]> {
  const rows = await database.query<
    CreationRow & {
      readonly job_id: string;
      readonly job_state: 'succeeded' | 'failed' | null;
      readonly error_code: string | null;
      readonly error_message: string | null;
    }
  >(READ_ENDED_JOBS);
  return rows.map((row) => ({
    creation: toCreation(row),
    jobId: row.job_id,
    state: row.job_state ?? undefined,
    code: row.error_code ?? '',
    message: row.error_message ?? '',
  }));
}

/** Reads how many creations are in the queue, and whether one of them has the same bytecode. */
export async function readQueuedCreations(
  database: Queryable,
  codeHash: Buffer | undefined,
): Promise<{ readonly verifying: number; readonly hasSameCode: boolean }> {
  const [row] = await database.query<{ verifying: number; has_same_code: boolean }>(
    COUNT_VERIFYING,
    [codeHash ?? null],
  );
  return { verifying: row?.verifying ?? 0, hasSameCode: row?.has_same_code === true };
}
