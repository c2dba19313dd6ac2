import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { requestBackfill, retryBackfills } from './backfills.ts';
import { type BlockSpan } from './untraced-blocks.ts';

export { requestBackfill, retryBackfills };

/** A fault with the time since which it has been shown. */
export interface MonitorFault {
  readonly code: string;
  readonly message: string;
  readonly since: Date;
}

/** Progress of reading a chain. */
export interface MonitorState {
  readonly chainId: number;
  /** First followed block. */
  readonly startBlock: number;
  /** Newest block up to which every creation is stored; initially the block before the first one. */
  readonly number: number;
  readonly hash?: Hex;
  /** Newest block and newest final block of the chain when they were last read. */
  readonly head?: number;
  readonly finalized?: number;
  /** Blocks between the cursor and the head. */
  readonly lag: number;
  /** When the cursor last moved, or was last found to be at its target. */
  readonly currentAt: Date;
  readonly fault?: MonitorFault;
  /** Total creations stored. */
  readonly found: number;
  readonly reorganisations: number;
  /** The last reorg: the newest block that was kept. */
  readonly reorganised?: { readonly to: number; readonly at: Date };
  /** Whether a process is following the chain now. */
  readonly isFollowed: boolean;
  readonly gaps: GapCounts;
}

/** Amounts of a chain that are unread or only partly read. */
export interface GapCounts {
  /** Backfills, and the number of blocks in them. */
  readonly backfillRanges: number;
  readonly backfillBlocks: number;
  /** Blocks whose contracts created by other contracts are unknown. */
  readonly untracedBlocks: number;
}

/** Consecutive blocks that are to be read again. */
export interface OpenBackfill extends BlockSpan {
  readonly attempts: number;
  readonly nextTryAt: Date;
  readonly requestedAt: Date;
  readonly fault?: { readonly code: string; readonly message: string };
}

/** Blocks of a chain that are unread or only partly read. */
export interface Gaps {
  /** In block order, at most {@link GAPS_MAX}. */
  readonly ranges: readonly OpenBackfill[];
  readonly untraced: readonly BlockSpan[];
  /** Whether there are more than listed. */
  readonly isCut: boolean;
}

const GAPS_MAX = 1_000;

const READ_STATES = sql(
  'read states of monitored chains',
  `SELECT cursor.chain_id, start_block, number, hash, head, finalized, current_at, fault_code, fault_message,
     failing_since, found, reorganisations, reorganised_to, reorganised_at, coalesce(lease_until > now(), false) AS is_followed,
     backfills.ranges AS backfill_ranges, coalesce(backfills.blocks, 0) AS backfill_blocks,
     coalesce(untraced.blocks, 0) AS untraced_blocks
   FROM monitor_cursors AS cursor
   LEFT JOIN LATERAL (
     SELECT count(*) AS ranges, sum(last_block - first_block + 1) AS blocks
     FROM monitor_backfills WHERE monitor_backfills.chain_id = cursor.chain_id) AS backfills ON true
   LEFT JOIN LATERAL (
     SELECT sum(last_block - first_block + 1) AS blocks
     FROM monitor_untraced_blocks WHERE monitor_untraced_blocks.chain_id = cursor.chain_id) AS untraced ON true
   WHERE $1::bigint[] IS NULL OR cursor.chain_id = ANY($1)
   ORDER BY cursor.chain_id`,
);

const READ_BACKFILLS = sql(
  'read backfills of chain',
  `SELECT first_block, last_block, attempts, next_try_at, requested_at, fault_code, fault_message
   FROM monitor_backfills WHERE chain_id = $1 ORDER BY first_block, last_block LIMIT $2`,
);

const READ_UNTRACED = sql(
  'read untraced blocks of chain',
  `SELECT first_block, last_block FROM monitor_untraced_blocks WHERE chain_id = $1 ORDER BY first_block LIMIT $2`,
);

interface StateRow {
  readonly chain_id: string;
  readonly start_block: string;
  readonly number: string;
  readonly hash: Buffer | null;
  readonly head: string | null;
  readonly finalized: string | null;
  readonly current_at: Date;
  readonly fault_code: string | null;
  readonly fault_message: string | null;
  readonly failing_since: Date | null;
  readonly found: string;
  readonly reorganisations: string;
  readonly reorganised_to: string | null;
  readonly reorganised_at: Date | null;
  readonly is_followed: boolean;
  readonly backfill_ranges: string;
  readonly backfill_blocks: string;
  readonly untraced_blocks: string;
}

/** Reads the progress of the given chains, or of all chains that were ever monitored. */
export async function readMonitorStates(
  database: Queryable,
  chainIds?: readonly number[],
): Promise<readonly MonitorState[]> {
  const rows = await database.query<StateRow>(READ_STATES, [chainIds ?? null]);
  return rows.map((row) => {
    const number = Number(row.number);
    const head = row.head === null ? undefined : Number(row.head);
    return {
      chainId: Number(row.chain_id),
      startBlock: Number(row.start_block),
      number,
      ...(row.hash !== null && { hash: bytesToHex(row.hash) }),
      ...(head !== undefined && { head }),
      ...(row.finalized !== null && { finalized: Number(row.finalized) }),
      lag: Math.max(0, (head ?? number) - number),
      currentAt: row.current_at,
      ...(row.fault_code !== null &&
        row.failing_since !== null && {
          fault: {
            code: row.fault_code,
            message: row.fault_message ?? row.fault_code,
            since: row.failing_since,
          },
        }),
      found: Number(row.found),
      reorganisations: Number(row.reorganisations),
      ...(row.reorganised_to !== null &&
        row.reorganised_at !== null && {
          reorganised: { to: Number(row.reorganised_to), at: row.reorganised_at },
        }),
      isFollowed: row.is_followed,
      gaps: {
        backfillRanges: Number(row.backfill_ranges),
        backfillBlocks: Number(row.backfill_blocks),
        untracedBlocks: Number(row.untraced_blocks),
      },
    };
  });
}

/** Reads the blocks of a chain that are unread or only partly read. */
export async function readGaps(database: Queryable, chainId: number): Promise<Gaps> {
  const ranges = await database.query<{
    first_block: string;
    last_block: string;
    attempts: number;
    next_try_at: Date;
    requested_at: Date;
    fault_code: string | null;
    fault_message: string | null;
  }>(READ_BACKFILLS, [chainId, GAPS_MAX + 1]);
  const untraced = await database.query<{ first_block: string; last_block: string }>(
    READ_UNTRACED,
    [chainId, GAPS_MAX + 1],
  );
  return {
    ranges: ranges.slice(0, GAPS_MAX).map((row) => ({
      first: Number(row.first_block),
      last: Number(row.last_block),
      attempts: row.attempts,
      nextTryAt: row.next_try_at,
      requestedAt: row.requested_at,
      ...(row.fault_code !== null && {
        fault: { code: row.fault_code, message: row.fault_message ?? row.fault_code },
      }),
    })),
    untraced: untraced.slice(0, GAPS_MAX).map((row) => ({
      first: Number(row.first_block),
      last: Number(row.last_block),
    })),
    isCut: ranges.length > GAPS_MAX || untraced.length > GAPS_MAX,
  };
}
