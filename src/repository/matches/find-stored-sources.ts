import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** Stored sources: their total size, and their texts unless that is too large. */
export interface StoredSources {
  readonly bytes: number;
  /** keccak256 → text; empty if `bytes` exceeds the limit. */
  readonly contents: ReadonlyMap<Hex, string>;
}

/** Lengths are known without reading texts, so nothing beyond the limit is read. */
const FIND_STORED_SOURCES = sql(
  'find stored sources',
  `WITH found AS (
     SELECT DISTINCT ON (source_hash_keccak) source_hash, source_hash_keccak, octet_length(content) AS bytes
     FROM sources WHERE source_hash_keccak = ANY ($1::bytea[])
     ORDER BY source_hash_keccak, source_hash
   ), total AS (SELECT coalesce(sum(bytes), 0) AS bytes FROM found)
   SELECT found.source_hash_keccak, found.bytes,
     CASE WHEN total.bytes <= $2::bigint THEN (SELECT content FROM sources WHERE source_hash = found.source_hash) END AS content
   FROM found, total`,
);

interface Row {
  source_hash_keccak: Buffer;
  bytes: number;
  content: string | null;
}

/**
 * Stored sources with these keccak256 hashes, of any contract. Their texts are read only if their total size
 * is at most `maxBytes`.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function findStoredSources(
  database: Queryable,
  hashes: readonly Hex[],
  maxBytes: number,
): Promise<StoredSources> {
  const rows = await database.query<Row>(FIND_STORED_SOURCES, [hashes.map(hexToBytes), maxBytes]);
  const contents = new Map<Hex, string>();
  let bytes = 0;
  for (const row of rows) {
    bytes += row.bytes;
    if (row.content !== null) contents.set(bytesToHex(row.source_hash_keccak), row.content);
  }
  return { bytes, contents };
}
