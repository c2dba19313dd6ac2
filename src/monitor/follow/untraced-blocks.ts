import { sql, type Queryable } from '../../store/database.ts';

/** Consecutive blocks, including both ends. */
export interface BlockSpan {
  readonly first: number;
  readonly last: number;
}

/** Returns the spans of blocks for which `holds` is true, in ascending order. */
export function spansOf<Block extends { readonly number: number }>(
  blocks: readonly Block[],
  holds: (block: Block) => boolean,
): readonly BlockSpan[] {
  const spans: { first: number; last: number }[] = [];
  for (const block of blocks) {
    if (!holds(block)) continue;
    const before = spans.at(-1);
    if (before !== undefined && before.last + 1 === block.number) before.last = block.number;
    else spans.push({ first: block.number, last: block.number });
  }
  return spans;
}

/** Returns the spans without these blocks. */
export function subtractSpan(spans: readonly BlockSpan[], taken: BlockSpan): readonly BlockSpan[] {
  return spans.flatMap(({ first, last }) =>
    [
      { first, last: Math.min(last, taken.first - 1) },
      { first: Math.max(first, taken.last + 1), last },
    ].filter((rest) => rest.first <= rest.last),
  );
}

/** Merges spans that touch or overlap, and returns them in ascending order. */
export function mergeSpans(spans: readonly BlockSpan[]): readonly BlockSpan[] {
  const merged: { first: number; last: number }[] = [];
  for (const span of spans.toSorted((left, right) => left.first - right.first)) {
    const before = merged.at(-1);
    if (before !== undefined && span.first <= before.last + 1) {
      before.last = Math.max(before.last, span.last);
    } else merged.push({ ...span });
  }
  return merged;
}

const TAKE_TOUCHING = sql(
  'take untraced blocks that touch',
  `DELETE FROM monitor_untraced_blocks
   WHERE chain_id = $1 AND first_block <= $3::bigint + 1 AND last_block >= $2::bigint - 1
   RETURNING first_block, last_block`,
);

const ADD = sql(
  'add untraced blocks',
  `INSERT INTO monitor_untraced_blocks (chain_id, first_block, last_block)
   SELECT $1, * FROM unnest($2::bigint[], $3::bigint[])`,
);

/**
 * Records blocks that were not traced, in as few rows as possible. Must run in a transaction that holds the
 * chain's cursor, so that it never runs twice at once.
 */
export async function recordUntracedBlocks(
  transaction: Queryable,
  chainId: number,
  read: BlockSpan,
  untraced: readonly BlockSpan[],
): Promise<void> {
  const touching = await transaction.query<{ first_block: string; last_block: string }>(
    TAKE_TOUCHING,
    [chainId, read.first, read.last],
  );
  const known = touching.map((row) => ({
    first: Number(row.first_block),
    last: Number(row.last_block),
  }));
  const spans = mergeSpans([...subtractSpan(known, read), ...untraced]);
  if (spans.length === 0) return;
  await transaction.query(ADD, [
    chainId,
    spans.map(({ first }) => first),
    spans.map(({ last }) => last),
  ]);
}
