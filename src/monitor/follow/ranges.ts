import { FullmatchError } from '../../errors.ts';
import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type BlockCreations } from '../seen-creation.ts';
import { FollowFault } from './follow-fault.ts';
import { type StoredBlocks, storeBlocks } from './store-creations.ts';
import { type BlockSpan } from './untraced-blocks.ts';

export type RangeKind = 'follow' | 'backfill';

/** A range that this process reads, while it holds the lease. */
export interface LeasedRange extends BlockSpan {
  readonly id: string;
  readonly chainId: number;
  readonly kind: RangeKind;
  readonly token: string;
  readonly attempts: number;
}

/** A range of `follow` as the leader joins it. */
export interface FollowRange extends BlockSpan {
  readonly id: string;
  /** Both are there once it is done. */
  readonly parentHash?: Hex;
  readonly lastHash?: Hex;
  /** Why it could not be read. */
  readonly fault?: { readonly code: string; readonly message: string };
}

const ADD_BACKFILL = sql(
  'add backfill range',
  `INSERT INTO monitor_ranges (chain_id, kind, first_block, last_block, fault_code, fault_message)
   VALUES ($1, 'backfill', $2, $3, $4, $5)
   ON CONFLICT (chain_id, kind, first_block) DO UPDATE
   SET last_block = greatest(monitor_ranges.last_block, EXCLUDED.last_block), next_try_at = now(),
     lease_token = NULL, lease_until = NULL`,
);

const HAND_OUT = sql(
  'hand out ranges to follow',
  `INSERT INTO monitor_ranges (chain_id, kind, first_block, last_block)
   SELECT $1, 'follow', * FROM unnest($2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING`,
);

// While many ranges of a chain fail, no new ones are cut off the large ones: their number stays bounded.
const LEASE = sql(
  'lease range of blocks',
  `UPDATE monitor_ranges SET lease_token = $2, lease_until = now() + $3 * interval '1 millisecond',
     attempts = attempts + 1
   WHERE id = (
     SELECT id FROM monitor_ranges
     WHERE chain_id = $1 AND last_hash IS NULL AND next_try_at <= now()
       AND (lease_until IS NULL OR lease_until < now())
       AND (kind = 'follow' OR last_block - first_block < $4 OR $5 > (
         SELECT count(*) FROM monitor_ranges AS failed
         WHERE failed.chain_id = $1 AND failed.kind = 'backfill' AND failed.attempts > 0))
     ORDER BY kind = 'backfill', next_try_at, first_block LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING id, kind, first_block, last_block, attempts`,
);

const CUT = sql(
  'cut range of blocks',
  `UPDATE monitor_ranges SET last_block = $3 WHERE id = $1 AND lease_token = $2 AND last_block > $3 RETURNING 1 AS one`,
);

const RENEW = sql(
  'renew lease of range',
  `UPDATE monitor_ranges SET lease_until = now() + $3 * interval '1 millisecond'
   WHERE id = $1 AND lease_token = $2 RETURNING 1 AS one`,
);

const HAND_BACK = sql(
  'hand back range of blocks',
  `UPDATE monitor_ranges SET lease_token = NULL, lease_until = NULL, attempts = attempts - 1
   WHERE id = $1 AND lease_token = $2`,
);

const FAIL = sql(
  'put off range of blocks',
  `UPDATE monitor_ranges SET lease_token = NULL, lease_until = NULL, fault_code = $3, fault_message = $4,
     next_try_at = now() + $5 * interval '1 millisecond'
   WHERE id = $1 AND lease_token = $2`,
);

// The cursor first, as everyone does who writes for a chain: whoever waits, waits there.
const HOLD_CURSOR = sql(
  'hold monitor cursor of range',
  'SELECT FROM monitor_cursors WHERE chain_id = $1 FOR UPDATE',
);

const HOLD = sql(
  'hold range of blocks',
  `SELECT FROM monitor_ranges WHERE id = $1 AND lease_token = $2 AND first_block = $3 AND last_block = $4 FOR UPDATE`,
);

const FINISH = sql(
  'finish range of blocks',
  `UPDATE monitor_ranges SET parent_hash = $2, last_hash = $3, lease_token = NULL, lease_until = NULL,
     fault_code = NULL, fault_message = NULL
   WHERE id = $1`,
);

const KEPT_HASH = sql(
  'kept hash of followed block',
  'SELECT hash FROM monitor_blocks WHERE chain_id = $1 AND number = $2',
);

const REMOVE = sql(
  'remove ranges of blocks',
  'DELETE FROM monitor_ranges WHERE id = ANY($1::bigint[])',
);

const RESET = sql(
  'read ranges of blocks again',
  `UPDATE monitor_ranges SET parent_hash = NULL, last_hash = NULL, lease_token = NULL, lease_until = NULL,
     fault_code = 'blocks_replaced', fault_message = 'The blocks do not follow those of the range beside them.',
     next_try_at = now() + LEAST(60, attempts) * interval '1 second'
   WHERE id = ANY($1::bigint[])`,
);

const LIST_FOLLOW = sql(
  'list ranges to follow',
  `SELECT id, first_block, last_block, parent_hash, last_hash, fault_code, fault_message FROM monitor_ranges
   WHERE chain_id = $1 AND kind = 'follow' ORDER BY first_block`,
);

const RETRY = sql(
  'retry ranges of blocks',
  `UPDATE monitor_ranges SET next_try_at = now()
   WHERE last_hash IS NULL AND next_try_at > now() AND ($1::bigint IS NULL OR chain_id = $1) RETURNING 1 AS one`,
);

const BACKFILLED_TO = sql(
  'how far a chain was followed',
  'SELECT start_block, number FROM monitor_cursors WHERE chain_id = $1',
);

/** Failed ranges of a backfill beside which no new ones are cut off. */
const FAILED_MOST = 64;

/** Asks for blocks to be read once more, in a transaction. */
export async function addBackfill(
  transaction: Queryable,
  chainId: number,
  { first, last }: BlockSpan,
  why?: { readonly code: string; readonly message: string },
): Promise<void> {
  await transaction.query(ADD_BACKFILL, [
    chainId,
    first,
    last,
    why?.code ?? null,
    why?.message ?? null,
  ]);
}

/**
 * Asks for the creations of blocks that were not followed, or that could not be traced. However many they are, they are
 * one row, from which processes cut off ranges to read. Blocks that the cursor has not reached are left to it.
 * @returns the blocks that will be read; undefined where all of them are left to the cursor
 * @throws FullmatchError invalid_parameter
 */
export async function requestBackfill(
  database: Database,
  chainId: number,
  first: number,
  last: number,
): Promise<BlockSpan | undefined> {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || first < 0 || last < first) {
    throw new FullmatchError(
      'invalid_parameter',
      `Blocks ${first} to ${last} are not a range: numbers from 0 on are expected, the smaller one first.`,
      { details: { parameter: 'last' } },
    );
  }
  return database.transaction(async (transaction) => {
    const [cursor] = await transaction.query<{ start_block: string; number: string }>(
      BACKFILLED_TO,
      [chainId],
    );
    const isFollowed = cursor !== undefined && last >= Number(cursor.start_block);
    const end = isFollowed
      ? Math.min(last, Math.max(Number(cursor.number), Number(cursor.start_block) - 1))
      : last;
    if (end < first) return undefined;
    await addBackfill(transaction, chainId, { first, last: end });
    return { first, last: end };
  });
}

/** Makes put-off ranges due, of one chain or of all. @returns how many there were. */
export async function retryRanges(database: Queryable, chainId?: number): Promise<number> {
  return (await database.query(RETRY, [chainId ?? null])).length;
}

/** Hands out ranges of blocks to be read by whoever comes. */
export async function handOutRanges(
  transaction: Queryable,
  chainId: number,
  spans: readonly BlockSpan[],
): Promise<void> {
  if (spans.length === 0) return;
  const firsts = spans.map(({ first }) => first);
  await transaction.query(HAND_OUT, [chainId, firsts, spans.map(({ last }) => last)]);
}

/** The ranges of `follow` of a chain, in the order of their blocks. */
export async function listFollowRanges(
  database: Queryable,
  chainId: number,
): Promise<readonly FollowRange[]> {
  const rows = await database.query<{
    id: string;
    first_block: string;
    last_block: string;
    parent_hash: Buffer | null;
    last_hash: Buffer | null;
    fault_code: string | null;
    fault_message: string | null;
  }>(LIST_FOLLOW, [chainId]);
  return rows.map((row) => ({
    id: row.id,
    first: Number(row.first_block),
    last: Number(row.last_block),
    ...(row.parent_hash !== null && { parentHash: bytesToHex(row.parent_hash) }),
    ...(row.last_hash !== null && { lastHash: bytesToHex(row.last_hash) }),
    ...(row.fault_code !== null && {
      fault: { code: row.fault_code, message: row.fault_message ?? row.fault_code },
    }),
  }));
}

/**
 * Takes a range of a chain that is due. Of a large one the first `rangeBlocks` are cut off; the others stay for
 * whoever comes.
 */
export async function leaseRange(
  database: Database,
  chainId: number,
  token: string,
  { leaseMs, rangeBlocks }: { readonly leaseMs: number; readonly rangeBlocks: number },
): Promise<LeasedRange | undefined> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{
      id: string;
      kind: RangeKind;
      first_block: string;
      last_block: string;
      attempts: number;
    }>(LEASE, [chainId, token, leaseMs, rangeBlocks, FAILED_MOST]);
    if (row === undefined) return undefined;
    const { id, kind, attempts } = row;
    const first = Number(row.first_block);
    const whole = Number(row.last_block);
    const last = Math.min(whole, first + rangeBlocks - 1);
    if (last < whole) {
      await transaction.query(CUT, [id, token, last]);
      const rest = { first: last + 1, last: whole };
      if (kind === 'backfill') await addBackfill(transaction, chainId, rest);
      else await handOutRanges(transaction, chainId, [rest]);
    }
    return { id, chainId, kind, token, attempts, first, last };
  });
}

/** Keeps a range for this process. @returns whether it still is this process's. */
export async function renewRange(
  database: Queryable,
  { id, token }: LeasedRange,
  leaseMs: number,
): Promise<boolean> {
  return (await database.query(RENEW, [id, token, leaseMs])).length > 0;
}

/** Gives a range back that this process does not read to the end. */
export async function handBackRange(
  database: Queryable,
  { id, token }: LeasedRange,
): Promise<void> {
  await database.query(HAND_BACK, [id, token]);
}

/** Puts a range off that cannot be read now. */
export async function putOffRange(
  database: Queryable,
  { id, token }: LeasedRange,
  fault: { readonly code: string; readonly message: string },
  waitMs: number,
): Promise<void> {
  await database.query(FAIL, [id, token, fault.code, fault.message, waitMs]);
}

/**
 * Stores what all blocks of a range created, in one transaction, if the range is still this process's.
 * @param isFinal whether the chain cannot replace the blocks any more; else they have to be those that were followed
 * @returns undefined where it is not
 * @throws FollowFault blocks_replaced, not_final
 */
export async function storeRange(
  database: Database,
  range: LeasedRange,
  blocks: readonly BlockCreations[],
  isFinal: boolean,
): Promise<StoredBlocks | undefined> {
  const { id, token, chainId, kind, first, last } = range;
  const firstBlock = blocks[0];
  const lastBlock = blocks.at(-1);
  if (firstBlock?.number !== first || lastBlock?.number !== last) {
    throw new TypeError('a range is stored with all of its blocks');
  }
  return database.transaction(async (transaction) => {
    await transaction.query(HOLD_CURSOR, [chainId]);
    const held = await transaction.query(HOLD, [id, token, first, last]);
    if (held.length === 0) return undefined;
    const [kept] = await transaction.query<{ hash: Buffer }>(KEPT_HASH, [chainId, last]);
    requireFollowed(range, lastBlock, kept?.hash, isFinal);
    const stored = await storeBlocks(transaction, chainId, blocks, true);
    if (kind === 'backfill') await transaction.query(REMOVE, [[id]]);
    else {
      const hashes = [hexToBytes(firstBlock.parentHash), hexToBytes(lastBlock.hash)];
      await transaction.query(FINISH, [id, ...hashes]);
    }
    return stored;
  });
}

function requireFollowed(
  { first, last }: LeasedRange,
  read: BlockCreations,
  kept: Buffer | undefined,
  isFinal: boolean,
): void {
  if (kept !== undefined && bytesToHex(kept) !== read.hash) {
    const message = `Blocks ${first} to ${last} are others now than those that were followed.`;
    throw new FollowFault('blocks_replaced', message);
  }
  if (kept === undefined && !isFinal) {
    const message = `The chain may still replace blocks ${first} to ${last}.`;
    throw new FollowFault('not_final', message);
  }
}

/** Removes ranges that the cursor has passed, or that are not wanted any more. */
export async function removeRanges(
  transaction: Queryable,
  ranges: readonly FollowRange[],
): Promise<void> {
  await transaction.query(REMOVE, [ranges.map(({ id }) => id)]);
}

/** Lets ranges be read once more. */
export async function resetRanges(
  transaction: Queryable,
  ranges: readonly FollowRange[],
): Promise<void> {
  await transaction.query(RESET, [ranges.map(({ id }) => id)]);
}
