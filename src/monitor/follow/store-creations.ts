import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type BlockCreations } from '../found-creation.ts';
import { recordUntracedBlocks } from './untraced-blocks.ts';

// For blocks that are read again, after a reorg or in a backfill: deletes creations of other blocks with the
// same numbers, which are no longer part of the chain.
const DROP_REPLACED = sql(
  'drop creations of replaced blocks',
  `DELETE FROM seen_creations
   WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3
     AND NOT EXISTS (
       SELECT FROM unnest($4::bigint[], $5::bytea[]) AS read (number, hash)
       WHERE number = block_number AND hash = block_hash)
   RETURNING address`,
);

const ADD = sql(
  'add seen creations',
  `INSERT INTO seen_creations
     (chain_id, address, block_number, block_hash, transaction_hash, transaction_index, creator, factory, code_hash)
   SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[], $6::integer[],
     $7::bytea[], $8::bytea[], $9::bytea[])
   ON CONFLICT DO NOTHING
   RETURNING 1 AS one`,
);

const COUNT = sql(
  'count seen creations',
  `UPDATE monitor_cursors SET found = found + $2 WHERE chain_id = $1`,
);

/** Changes made by storing blocks. */
export interface StoredBlocks {
  /** Creations that were not stored before. */
  readonly added: number;
  /** Addresses of deleted creations, which belonged to other blocks with these numbers. */
  readonly dropped: readonly Hex[];
}

/**
 * Stores the creations of consecutive blocks, each creation once however often the blocks are read. Must run
 * in a transaction that holds the chain's cursor.
 * @param isRepeated whether the blocks may have been read before
 */
export async function storeBlocks(
  transaction: Queryable,
  chainId: number,
  blocks: readonly BlockCreations[],
  isRepeated: boolean,
): Promise<StoredBlocks> {
  const first = blocks[0];
  const last = blocks.at(-1);
  if (first === undefined || last === undefined) return { added: 0, dropped: [] };
  const span = { first: first.number, last: last.number };
  const dropped = isRepeated
    ? await transaction.query<{ address: Buffer }>(DROP_REPLACED, [
        chainId,
        span.first,
        span.last,
        blocks.map(({ number }) => number),
        blocks.map(({ hash }) => hexToBytes(hash)),
      ])
    : [];
  const untraced = blocks.filter(({ isTraced }) => !isTraced).map(({ number }) => number);
  if (isRepeated || untraced.length > 0)
    await recordUntracedBlocks(transaction, chainId, span, untraced);
  const added = await addCreations(transaction, chainId, blocks);
  if (added > 0) await transaction.query(COUNT, [chainId, added]);
  return { added, dropped: dropped.map(({ address }) => bytesToHex(address)) };
}

async function addCreations(
  transaction: Queryable,
  chainId: number,
  blocks: readonly BlockCreations[],
): Promise<number> {
  const rows = blocks.flatMap(({ number, hash, creations }) =>
    creations.map((creation) => ({ number, hash, ...creation })),
  );
  if (rows.length === 0) return 0;
  const added = await transaction.query(ADD, [
    chainId,
    rows.map(({ address }) => hexToBytes(address)),
    rows.map(({ number }) => number),
    rows.map(({ hash }) => hexToBytes(hash)),
    rows.map(({ transactionHash }) => hexToBytes(transactionHash)),
    rows.map(({ transactionIndex }) => transactionIndex),
    rows.map(({ creator }) => hexToBytes(creator)),
    rows.map(({ factory }) => (factory === undefined ? null : hexToBytes(factory))),
    rows.map(({ codeHash }) => codeHash ?? null),
  ]);
  return added.length;
}
