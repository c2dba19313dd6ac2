import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { type BlockCreations } from '../found-creation.ts';
import { type StoredBlocks, storeBlocks } from './store-creations.ts';

/** Position up to which a chain was read; valid while this process holds the lease. */
export interface Cursor {
  readonly chainId: number;
  readonly token: string;
  readonly startBlock: number;
  readonly number: number;
  /** Absent until the first block was read. */
  readonly hash?: Hex;
}

const ADD_CURSOR = sql(
  'add monitor cursor',
  `INSERT INTO monitor_cursors (chain_id, start_block, number, hash) VALUES ($1, $2::bigint, $2::bigint - 1, $3)
   ON CONFLICT DO NOTHING RETURNING 1 AS one`,
);

const EXISTS = sql('is there a monitor cursor', 'SELECT FROM monitor_cursors WHERE chain_id = $1');

const LEASE = sql(
  'lease monitor cursor',
  `UPDATE monitor_cursors SET lease_token = $2, lease_until = now() + $3 * interval '1 millisecond'
   WHERE chain_id = $1 AND (lease_token = $2 OR lease_until IS NULL OR lease_until < now())
   RETURNING start_block, number, hash`,
);

const RELEASE = sql(
  'release monitor cursor',
  `UPDATE monitor_cursors SET lease_token = NULL, lease_until = NULL WHERE chain_id = $1 AND lease_token = $2`,
);

// Locks the cursor in the state that this process knows, until the end of the transaction.
const HOLD = sql(
  'hold monitor cursor',
  `SELECT FROM monitor_cursors
   WHERE chain_id = $1 AND lease_token = $2 AND number = $3 AND hash IS NOT DISTINCT FROM $4 FOR UPDATE`,
);

const MOVE = sql(
  'move monitor cursor',
  `UPDATE monitor_cursors SET number = $2, hash = $3, current_at = now(),
     fault_code = NULL, fault_message = NULL, failing_since = NULL
   WHERE chain_id = $1`,
);

const NOTE_HEAD = sql(
  'note head of monitored chain',
  `UPDATE monitor_cursors SET head = $3, finalized = $4,
     lease_until = now() + $6 * interval '1 millisecond',
     current_at = CASE WHEN $5 THEN now() ELSE current_at END,
     fault_code = CASE WHEN $5 THEN NULL ELSE fault_code END,
     fault_message = CASE WHEN $5 THEN NULL ELSE fault_message END,
     failing_since = CASE WHEN $5 THEN NULL ELSE failing_since END
   WHERE chain_id = $1 AND lease_token = $2 RETURNING 1 AS one`,
);

const NOTE_FAULT = sql(
  'note fault of monitored chain',
  `UPDATE monitor_cursors SET fault_code = $2, fault_message = $3, failing_since = coalesce(failing_since, now())
   WHERE chain_id = $1 AND lease_token = $4`,
);

const KEEP_HASHES = sql(
  'keep hashes of followed blocks',
  `INSERT INTO monitor_blocks (chain_id, number, hash) SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])
   ON CONFLICT (chain_id, number) DO UPDATE SET hash = EXCLUDED.hash`,
);

const FORGET_HASHES = sql(
  'forget hashes of final blocks',
  'DELETE FROM monitor_blocks WHERE chain_id = $1 AND number < $2',
);

const LIST_HASHES = sql(
  'list hashes of followed blocks',
  'SELECT number, hash FROM monitor_blocks WHERE chain_id = $1 ORDER BY number DESC',
);

const MOVE_START = sql(
  'move start of monitored chain',
  'UPDATE monitor_cursors SET start_block = $2 WHERE chain_id = $1 AND start_block > $2 RETURNING 1 AS one',
);

/** Number of hashes kept below the newest block: at least and at most, whatever the chain reports as final. */
const LEAST_HASHES = 256;
const MAX_HASHES = 10_000;

/** Returns whether a chain has a cursor. */
export async function hasCursor(database: Queryable, chainId: number): Promise<boolean> {
  return (await database.query(EXISTS, [chainId])).length > 0;
}

/**
 * Creates the cursor of a chain before the first followed block; keeps an existing one.
 * @param hash of the block before it, if known
 */
export async function addCursor(
  database: Database,
  chainId: number,
  startBlock: number,
  hash?: Hex,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const bytes = hash === undefined ? null : hexToBytes(hash);
    const added = await transaction.query(ADD_CURSOR, [chainId, startBlock, bytes]);
    if (added.length > 0 && bytes !== null && startBlock > 0) {
      await transaction.query(KEEP_HASHES, [chainId, [startBlock - 1], [bytes]]);
    }
  });
}

/** Acquires or renews the lease of a chain; returns undefined while another process holds it. */
export async function leaseCursor(
  database: Queryable,
  chainId: number,
  token: string,
  leaseMs: number,
): Promise<Cursor | undefined> {
  const [row] = await database.query<{
    start_block: string;
    number: string;
    hash: Buffer | null;
  }>(LEASE, [chainId, token, leaseMs]);
  if (row === undefined) return undefined;
  const { start_block, number, hash } = row;
  return {
    chainId,
    token,
    startBlock: Number(start_block),
    number: Number(number),
    ...(hash !== null && { hash: bytesToHex(hash) }),
  };
}

export async function releaseCursor(
  database: Queryable,
  chainId: number,
  token: string,
): Promise<void> {
  await database.query(RELEASE, [chainId, token]);
}

/** Thrown if another process now has the chain or moved its cursor. */
export class CursorLost extends Error {
  override readonly name = 'CursorLost';
}

/**
 * Locks the cursor for the transaction.
 * @throws CursorLost if its state differs from what this process knows.
 */
export async function lockCursor(transaction: Queryable, cursor: Cursor): Promise<void> {
  const { chainId, token, number, hash } = cursor;
  const bytes = hash === undefined ? null : hexToBytes(hash);
  const held = await transaction.query(HOLD, [chainId, token, number, bytes]);
  if (held.length === 0) throw new CursorLost(`the cursor of chain ${chainId} has moved`);
}

/**
 * Moves the cursor to a block, in the transaction that holds it, and stores the hashes.
 * @param finalized blocks below it are not replaced any more
 */
async function moveCursor(
  transaction: Queryable,
  cursor: Cursor,
  hashes: readonly { readonly number: number; readonly hash: Hex }[],
  finalized: number,
): Promise<Cursor> {
  const last = hashes.at(-1);
  if (last === undefined) return cursor;
  const { chainId } = cursor;
  await transaction.query(MOVE, [chainId, last.number, hexToBytes(last.hash)]);
  await transaction.query(KEEP_HASHES, [
    chainId,
    hashes.map(({ number }) => number),
    hashes.map(({ hash }) => hexToBytes(hash)),
  ]);
  const kept = Math.max(Math.min(finalized, last.number - LEAST_HASHES), last.number - MAX_HASHES);
  if (kept > cursor.startBlock) await transaction.query(FORGET_HASHES, [chainId, kept]);
  return { ...cursor, number: last.number, hash: last.hash };
}

/** Stores the creations of the next blocks and moves the cursor to the last of them, in one transaction. */
export async function advanceCursor(
  database: Database,
  cursor: Cursor,
  blocks: readonly BlockCreations[],
  finalized: number,
): Promise<{ readonly cursor: Cursor; readonly stored: StoredBlocks }> {
  return database.transaction(async (transaction) => {
    await lockCursor(transaction, cursor);
    const stored = await storeBlocks(transaction, cursor.chainId, blocks, false);
    const [first] = blocks;
    const before =
      cursor.hash === undefined && first !== undefined && first.number > 0
        ? [{ number: first.number - 1, hash: first.parentHash }]
        : [];
    const moved = await moveCursor(transaction, cursor, [...before, ...blocks], finalized);
    return { cursor: moved, stored };
  });
}

/** The recorded head of a chain. */
export interface RecordedHead {
  readonly head: number;
  readonly finalized: number;
  /** Whether the cursor has reached its target. */
  readonly isCurrent: boolean;
}

/**
 * Records the head of a chain and renews its lease.
 * @throws CursorLost
 */
export async function recordHead(
  database: Queryable,
  { chainId, token }: Cursor,
  { head, finalized, isCurrent }: RecordedHead,
  leaseMs: number,
): Promise<void> {
  const noted = await database.query(NOTE_HEAD, [
    chainId,
    token,
    head,
    finalized,
    isCurrent,
    leaseMs,
  ]);
  if (noted.length === 0) throw new CursorLost(`another process follows chain ${chainId}`);
}

/** Records why a chain cannot be read further; consecutive faults keep the time of the first one. */
export async function recordFault(
  database: Queryable,
  chainId: number,
  token: string,
  fault: { readonly code: string; readonly message: string },
): Promise<void> {
  await database.query(NOTE_FAULT, [chainId, fault.code, fault.message, token]);
}

/** Lists the stored hashes, newest first. */
export async function listHashes(
  database: Queryable,
  chainId: number,
): Promise<readonly { readonly number: number; readonly hash: Hex }[]> {
  const rows = await database.query<{ number: string; hash: Buffer }>(LIST_HASHES, [chainId]);
  return rows.map(({ number, hash }) => ({ number: Number(number), hash: bytesToHex(hash) }));
}

/**
 * Moves the start of a chain to an earlier block.
 * @returns whether this call changed it.
 */
export async function moveStart(
  transaction: Queryable,
  chainId: number,
  startBlock: number,
): Promise<boolean> {
  return (await transaction.query(MOVE_START, [chainId, startBlock])).length > 0;
}
