import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Database } from '../../store/database.ts';
import { addBackfill } from './backfills.ts';
import { type Cursor, lockCursor } from './cursor.ts';

/** The newest block that a reorg did not replace. */
export interface Fork {
  /** The block before the first followed one, if the first one was replaced too. */
  readonly number: number;
  /** Absent if its hash is unknown. */
  readonly hash?: Hex;
  /** Whether older blocks may have been replaced too, since none of their hashes are stored. */
  readonly isTooDeep: boolean;
}

const DROP_CREATIONS = sql(
  'drop creations above the fork',
  'DELETE FROM seen_creations WHERE chain_id = $1 AND block_number > $2 RETURNING address, block_number',
);

const DROP_HASHES = sql(
  'drop hashes above the fork',
  'DELETE FROM monitor_blocks WHERE chain_id = $1 AND number > $2',
);

const DROP_UNTRACED = sql(
  'drop untraced blocks above the fork',
  'DELETE FROM monitor_untraced_blocks WHERE chain_id = $1 AND first_block > $2',
);

const CUT_UNTRACED = sql(
  'cut untraced blocks at the fork',
  'UPDATE monitor_untraced_blocks SET last_block = $2 WHERE chain_id = $1 AND last_block > $2',
);

const MOVE = sql(
  'move monitor cursor to the fork',
  `UPDATE monitor_cursors SET number = $2, hash = $3, reorganisations = reorganisations + 1,
     reorganised_to = $2, reorganised_at = now()
   WHERE chain_id = $1`,
);

/** Number of newest hashes that are checked one by one before the binary search: most reorgs are short. */
const NEAR = 4;

/**
 * Finds the newest stored block that the chain still has, with few requests: matching hashes are below the
 * others.
 * @param kept newest first
 * @param isSame whether the chain has this block
 * @returns undefined if it has none of them
 */
export async function findFork<Kept>(
  kept: readonly Kept[],
  isSame: (block: Kept) => Promise<boolean>,
): Promise<Kept | undefined> {
  for (const block of kept.slice(0, NEAR)) {
    if (await isSame(block)) return block;
  }
  let above = Math.min(NEAR, kept.length) - 1;
  let below = kept.length;
  while (below - above > 1) {
    const middle = above + Math.floor((below - above) / 2);
    const block = kept[middle];
    if (block !== undefined && (await isSame(block))) below = middle;
    else above = middle;
  }
  return kept[below];
}

/**
 * Deletes creations above the fork and moves the cursor there, in one transaction. If older blocks may have
 * been replaced too, schedules all of them to be read again.
 */
export async function rollBack(
  database: Database,
  cursor: Cursor,
  fork: Fork,
): Promise<{ readonly cursor: Cursor; readonly addresses: readonly Hex[] }> {
  const { chainId, startBlock } = cursor;
  return database.transaction(async (transaction) => {
    await lockCursor(transaction, cursor);
    // If not even the block before the first one is known, all older blocks are discarded too.
    const isAnew = fork.number < startBlock && fork.hash === undefined;
    const stays = isAnew ? -1 : fork.number;
    const dropped = await transaction.query<{ address: Buffer; block_number: string }>(
      DROP_CREATIONS,
      [chainId, stays],
    );
    for (const statement of [DROP_HASHES, DROP_UNTRACED, CUT_UNTRACED]) {
      await transaction.query(statement, [chainId, stays]);
    }
    const earliest = Math.min(...dropped.map((row) => Number(row.block_number)));
    if (earliest < startBlock) {
      await addBackfill(transaction, chainId, { first: earliest, last: startBlock - 1 });
    }
    const hash = fork.hash === undefined ? null : hexToBytes(fork.hash);
    await transaction.query(MOVE, [chainId, fork.number, hash]);
    if (fork.isTooDeep && fork.number >= startBlock) {
      await addBackfill(transaction, chainId, { first: startBlock, last: fork.number });
    }
    const moved = { chainId, token: cursor.token, startBlock, number: fork.number };
    return {
      cursor: { ...moved, ...(fork.hash !== undefined && { hash: fork.hash }) },
      addresses: [...new Set(dropped.map(({ address }) => bytesToHex(address)))],
    };
  });
}
