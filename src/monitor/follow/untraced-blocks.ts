import { sql, type Queryable } from '../../store/database.ts';

/** Consecutive blocks, including both ends. */
export interface BlockSpan {
  readonly first: number;
  readonly last: number;
}

// Sums and differences of multiranges merge spans that touch or overlap.
const RECORD = sql(
  'record untraced blocks',
  `WITH touching AS (
     DELETE FROM monitor_untraced_blocks
     WHERE chain_id = $1 AND first_block <= $3::bigint + 1 AND last_block >= $2::bigint - 1
     RETURNING int8range(first_block, last_block, '[]') AS blocks
   )
   INSERT INTO monitor_untraced_blocks (chain_id, first_block, last_block)
   SELECT $1, lower(span), upper(span) - 1
   FROM unnest(
     coalesce((SELECT range_agg(blocks) FROM touching), '{}')
       - int8multirange(int8range($2, $3, '[]'))
       + coalesce((SELECT range_agg(int8range(number, number, '[]'))
         FROM unnest($4::bigint[]) AS untraced (number)), '{}')) AS span`,
);

/**
 * Records which of the blocks just read were not traced, in as few rows as possible. Must run in a transaction
 * that holds the chain's cursor, so that it never runs twice at once.
 * @param untraced block numbers
 */
export async function recordUntracedBlocks(
  transaction: Queryable,
  chainId: number,
  read: BlockSpan,
  untraced: readonly number[],
): Promise<void> {
  await transaction.query(RECORD, [chainId, read.first, read.last, untraced]);
}
