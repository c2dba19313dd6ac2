import { FullmatchError } from '../../errors.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type BlockCreations } from '../found-creation.ts';
import { type Cursor, lockCursor } from './cursor.ts';
import { FollowFault } from './follow-fault.ts';
import { type StoredBlocks, storeBlocks } from './store-creations.ts';
import { type BlockSpan } from './untraced-blocks.ts';

/** A range of blocks to read again: a second cursor of a chain, positioned before `first`. */
export interface Backfill extends BlockSpan {
  readonly id: string;
  /** Failed attempts to read its first block. */
  readonly attempts: number;
}

const FOLLOWED = sql(
  'how far a chain was followed',
  'SELECT start_block, number FROM monitor_cursors WHERE chain_id = $1 FOR UPDATE',
);

// Failed backfills keep their own row, so that their blocks are retried separately.
const TAKE_TOUCHING = sql(
  'take backfills that touch',
  `DELETE FROM monitor_backfills
   WHERE chain_id = $1 AND attempts = 0 AND first_block <= $3::bigint + 1 AND last_block >= $2::bigint - 1
   RETURNING first_block, last_block`,
);

const ADD = sql(
  'add backfill',
  `INSERT INTO monitor_backfills (chain_id, first_block, last_block) VALUES ($1, $2, $3)`,
);

const NEXT_DUE = sql(
  'next backfill of chain',
  `SELECT id, first_block, last_block, attempts FROM monitor_backfills
   WHERE chain_id = $1 AND next_try_at <= now() ORDER BY next_try_at, first_block LIMIT 1`,
);

const HOLD = sql(
  'hold backfill',
  'SELECT FROM monitor_backfills WHERE id = $1 AND first_block = $2 FOR UPDATE',
);

const KEPT_HASH = sql(
  'kept hash of followed block',
  'SELECT hash FROM monitor_blocks WHERE chain_id = $1 AND number = $2',
);

const MOVE = sql(
  'move backfill',
  `UPDATE monitor_backfills SET first_block = $2, attempts = 0, fault_code = NULL, fault_message = NULL
   WHERE id = $1 AND last_block >= $2`,
);

const FINISH = sql(
  'finish backfill',
  'DELETE FROM monitor_backfills WHERE id = $1 AND last_block < $2',
);

const CUT = sql(
  'cut failed blocks off a backfill',
  `UPDATE monitor_backfills SET first_block = $2
   WHERE id = $1 AND last_block >= $2 AND $4 > (
     SELECT count(*) FROM monitor_backfills AS failed WHERE failed.chain_id = $3 AND failed.attempts > 0)
   RETURNING 1 AS one`,
);

const ADD_FAILED = sql(
  'add failed backfill',
  `INSERT INTO monitor_backfills
     (chain_id, first_block, last_block, attempts, fault_code, fault_message, next_try_at)
   VALUES ($1, $2, $3, 1, $4, $5, now() + $6 * interval '1 millisecond')`,
);

const PUT_OFF = sql(
  'put off backfill',
  `UPDATE monitor_backfills SET attempts = attempts + 1, fault_code = $2, fault_message = $3,
     next_try_at = now() + $4 * interval '1 millisecond'
   WHERE id = $1`,
);

const RETRY = sql(
  'retry backfills',
  `UPDATE monitor_backfills SET next_try_at = now()
   WHERE next_try_at > now() AND ($1::bigint IS NULL OR chain_id = $1) RETURNING 1 AS one`,
);

/** Once a chain has this many failed backfills, failed blocks are no longer split off from longer ones. */
const FAILED_MOST = 64;

/** Schedules blocks to be read again, in a transaction that holds the chain's cursor. */
export async function addBackfill(
  transaction: Queryable,
  chainId: number,
  { first, last }: BlockSpan,
): Promise<void> {
  const touching = await transaction.query<{ first_block: string; last_block: string }>(
    TAKE_TOUCHING,
    [chainId, first, last],
  );
  const firsts = touching.map((row) => Number(row.first_block));
  const lasts = touching.map((row) => Number(row.last_block));
  await transaction.query(ADD, [chainId, Math.min(first, ...firsts), Math.max(last, ...lasts)]);
}

/**
 * Requests the creations of blocks that were not followed or could not be traced. Blocks ahead of the cursor
 * are left to it.
 * @returns the blocks that will be read; undefined if all of them are left to the cursor
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
      `Blocks ${first} to ${last} are not a range: two numbers from 0, the smaller one first, are expected.`,
      { details: { parameter: 'last' } },
    );
  }
  return database.transaction(async (transaction) => {
    const [cursor] = await transaction.query<{ start_block: string; number: string }>(FOLLOWED, [
      chainId,
    ]);
    const isFollowed = cursor !== undefined && last >= Number(cursor.start_block);
    const end = isFollowed
      ? Math.min(last, Math.max(Number(cursor.number), Number(cursor.start_block) - 1))
      : last;
    if (end < first) return undefined;
    await addBackfill(transaction, chainId, { first, last: end });
    return { first, last: end };
  });
}

/**
 * Makes postponed backfills due, for one chain or for all.
 * @returns how many there were.
 */
export async function retryBackfills(database: Queryable, chainId?: number): Promise<number> {
  return (await database.query(RETRY, [chainId ?? null])).length;
}

/** Returns the next due backfill of a chain. */
export async function nextBackfill(
  database: Queryable,
  chainId: number,
): Promise<Backfill | undefined> {
  const [row] = await database.query<{
    id: string;
    first_block: string;
    last_block: string;
    attempts: number;
  }>(NEXT_DUE, [chainId]);
  if (row === undefined) return undefined;
  const { id, attempts } = row;
  return { id, attempts, first: Number(row.first_block), last: Number(row.last_block) };
}

/**
 * Stores the creations in the first blocks of a backfill and advances it past them, in one transaction.
 * @param blocks consecutive blocks, starting with the first of the backfill
 * @param finalized the newest final block; newer blocks must be the ones that were followed
 * @returns undefined if the backfill changed meanwhile
 * @throws CursorLost. FollowFault blocks_replaced, not_final
 */
export async function advanceBackfill(
  database: Database,
  cursor: Cursor,
  { id, first }: Backfill,
  blocks: readonly BlockCreations[],
  finalized: number,
): Promise<StoredBlocks | undefined> {
  const { chainId } = cursor;
  const last = blocks.at(-1);
  if (blocks[0]?.number !== first || last === undefined) {
    throw new TypeError('a backfill continues');
  }
  return database.transaction(async (transaction) => {
    await lockCursor(transaction, cursor);
    if ((await transaction.query(HOLD, [id, first])).length === 0) return undefined;
    const [kept] = await transaction.query<{ hash: Buffer }>(KEPT_HASH, [chainId, last.number]);
    requireFollowed({ first, last: last.number }, last, kept?.hash, finalized);
    const stored = await storeBlocks(transaction, chainId, blocks, true);
    await transaction.query(MOVE, [id, last.number + 1]);
    await transaction.query(FINISH, [id, last.number + 1]);
    return stored;
  });
}

function requireFollowed(
  { first, last }: BlockSpan,
  read: BlockCreations,
  kept: Buffer | undefined,
  finalized: number,
): void {
  if (kept !== undefined && bytesToHex(kept) !== read.hash) {
    const message = `Blocks ${first} to ${last} have been replaced since they were followed.`;
    throw new FollowFault('blocks_replaced', message);
  }
  if (kept === undefined && last > finalized) {
    const message = `The chain may still replace blocks ${first} to ${last}.`;
    throw new FollowFault('not_final', message);
  }
}

/**
 * Postpones blocks that cannot be read now. The rest of a longer backfill continues without them.
 * @param until the last block that was tried
 */
export async function postponeBackfill(
  database: Database,
  { chainId }: Cursor,
  { id, first }: Backfill,
  until: number,
  fault: { readonly code: string; readonly message: string },
  waitMs: number,
): Promise<void> {
  await database.transaction(async (transaction) => {
    if ((await transaction.query(HOLD, [id, first])).length === 0) return;
    const cut = await transaction.query(CUT, [id, until + 1, chainId, FAILED_MOST]);
    if (cut.length === 0) {
      await transaction.query(PUT_OFF, [id, fault.code, fault.message, waitMs]);
      return;
    }
    const failed = [chainId, first, until, fault.code, fault.message, waitMs];
    await transaction.query(ADD_FAILED, failed);
  });
}
