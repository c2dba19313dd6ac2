import { type Database } from '../../store/database.ts';
import { type Cursor, holdCursor, moveCursor } from './cursor.ts';
import {
  type FollowRange,
  handOutRanges,
  listFollowRanges,
  removeRanges,
  resetRanges,
} from './ranges.ts';
import { type BlockSpan } from './untraced-blocks.ts';

/** What becomes of the ranges of a chain: the cursor passes some, others are read again, new ones are handed out. */
export interface CatchUpPlan {
  readonly joined: readonly FollowRange[];
  /** Ranges that do not fit their neighbour. */
  readonly misfits: readonly FollowRange[];
  /** Ranges that cannot be joined to the cursor at all. */
  readonly stray: readonly FollowRange[];
  /** Whether the first range does not fit the cursor: the cursor's own block may have been replaced. */
  readonly misfitsCursor: boolean;
  readonly handedOut: readonly BlockSpan[];
}

/**
 * Plans the next step of catching up: done ranges are joined to the cursor while each begins where the one before it
 * ends and with that one's hash as the parent. New ranges follow the last one.
 * @param until the last block that may be handed out
 */
export function planCatchUp(
  cursor: Pick<Cursor, 'number' | 'hash'>,
  ranges: readonly FollowRange[],
  until: number,
  { rangeBlocks, outstandingRanges }: { rangeBlocks: number; outstandingRanges: number },
): CatchUpPlan {
  const joined: FollowRange[] = [];
  const misfits: FollowRange[] = [];
  const inRow: FollowRange[] = [];
  let next = cursor.number + 1;
  for (const range of ranges) {
    if (range.first !== next) break;
    inRow.push(range);
    next = range.last + 1;
  }
  let hash = cursor.hash;
  let misfitsCursor = false;
  for (const [index, range] of inRow.entries()) {
    if (range.lastHash === undefined) break;
    if (hash !== undefined && range.parentHash !== hash) {
      misfitsCursor = index === 0;
      const before = joined.pop();
      misfits.push(...(before === undefined ? [] : [before]), range);
      break;
    }
    joined.push(range);
    hash = range.lastHash;
  }
  const handedOut: BlockSpan[] = [];
  const open = inRow.length - joined.length;
  while (open + handedOut.length < outstandingRanges && next + rangeBlocks - 1 <= until) {
    handedOut.push({ first: next, last: next + rangeBlocks - 1 });
    next += rangeBlocks;
  }
  return { joined, misfits, stray: ranges.slice(inRow.length), misfitsCursor, handedOut };
}

/** How far catching up has come. */
export interface CaughtUp {
  readonly cursor: Cursor;
  readonly plan: CatchUpPlan;
  /** Whether ranges are left. */
  readonly isOpen: boolean;
  /** Why the range that is next cannot be read. */
  readonly fault?: { readonly code: string; readonly message: string };
}

/** Joins done ranges to the cursor and hands out new ones, in one transaction. */
export async function catchUp(
  database: Database,
  cursor: Cursor,
  until: number,
  finalized: number,
  sizes: { readonly rangeBlocks: number; readonly outstandingRanges: number },
): Promise<CaughtUp> {
  return database.transaction(async (transaction) => {
    await holdCursor(transaction, cursor);
    const ranges = await listFollowRanges(transaction, cursor.chainId);
    const plan = planCatchUp(cursor, ranges, until, sizes);
    const { joined, misfits, stray, handedOut } = plan;
    if (joined.length + stray.length > 0) await removeRanges(transaction, [...joined, ...stray]);
    if (misfits.length > 0) await resetRanges(transaction, misfits);
    await handOutRanges(transaction, cursor.chainId, handedOut);
    const hashes = joined.flatMap(({ last, lastHash }) =>
      lastHash === undefined ? [] : [{ number: last, hash: lastHash }],
    );
    const [first] = joined;
    if (cursor.hash === undefined && first?.parentHash !== undefined && first.first > 0) {
      hashes.unshift({ number: first.first - 1, hash: first.parentHash });
    }
    const moved = await moveCursor(transaction, cursor, hashes, finalized);
    const left = ranges.length - joined.length - stray.length + handedOut.length;
    const fault = ranges[joined.length]?.fault;
    return { cursor: moved, plan, isOpen: left > 0, ...(fault !== undefined && { fault }) };
  });
}
