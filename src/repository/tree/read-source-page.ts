import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { sql, type Queryable, type Statement } from '../../store/database.ts';
import { ARE_SOURCES_SHOWN, WITHDRAWAL } from '../matches/read-withdrawn-match.ts';

/** A source in a list of sources. */
export interface PagedSource {
  readonly path: string;
  readonly bytes: number;
  /** Null if the contents of the page exceed its limit. */
  readonly content: string | null;
}

/** The shown source, truncated if it is very long. */
export interface ShownSource {
  readonly path: string;
  readonly bytes: number;
  readonly content: string;
}

/** A page of a contract's sources, by path. */
export interface SourcePage {
  readonly sources: readonly PagedSource[];
  /** Counted up to a limit. */
  readonly total: number;
  /** Path after which the next page begins; absent on the last one. */
  readonly next?: string;
  /** The size of metadata.json; 0 without one. */
  readonly metadataBytes: number;
  /** The requested source, else that of the contract itself, else the first. Absent without sources. */
  readonly shown?: ShownSource;
}

/** Cursor of a page, and the source to show. */
export interface SourceQuery {
  /** Sources after this path. */
  readonly after?: string;
  readonly limit: number;
  /** The source to show. */
  readonly path?: string;
}

/** Maximum size of all contents of a page; further sources are listed without content. */
const CONTENTS_MAX_BYTES = 2_000_000;
/** More sources than this are counted as this many. */
const SOURCES_COUNTED = 10_000;
const SHOWN_MAX_CHARACTERS = 1_000_000;

// Sorting paths reads no content; lengths are stored separately.
const READ_PAGE = sql(
  'read page of sources',
  `WITH paths AS (
     SELECT path, source_hash FROM compiled_contracts_sources WHERE compilation_id = $1
     AND ($2::text IS NULL OR path COLLATE "C" > $2) ORDER BY path COLLATE "C" LIMIT $3
   ), sizes AS (
     SELECT path, source_hash, octet_length(content) AS bytes,
       sum(octet_length(content)) OVER (ORDER BY path COLLATE "C") AS bytes_so_far
     FROM paths JOIN sources USING (source_hash)
   )
   SELECT path, bytes, CASE WHEN bytes_so_far <= ${CONTENTS_MAX_BYTES}
     THEN (SELECT content FROM sources WHERE sources.source_hash = sizes.source_hash) END AS content
   FROM sizes ORDER BY path COLLATE "C"`,
);
const SIZES = `compilation_id, left(fully_qualified_name, -length(name) - 1) AS target,
     (SELECT count(*)::int FROM (SELECT FROM compiled_contracts_sources AS counted
        WHERE counted.compilation_id = compiled_contracts.id LIMIT ${SOURCES_COUNTED}) AS bounded) AS total,
     coalesce(octet_length(metadata), 0) AS metadata_bytes`;
const READ_SIZES = sql(
  'read sizes of sources',
  `SELECT ${SIZES}
   FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = current_matches.verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE chain_id = $1 AND address = $2`,
);
const READ_WITHDRAWN_SIZES = sql(
  'read sizes of withdrawn sources',
  `SELECT ${SIZES}
   FROM ${WITHDRAWAL}
   JOIN verified_contracts ON verified_contracts.id = withdrawal.verified_contract_id AND ${ARE_SOURCES_SHOWN}
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id`,
);

interface SizesRow {
  compilation_id: string;
  target: string;
  total: number;
  metadata_bytes: number;
}

const READ_SHOWN = sql(
  'read shown source',
  `SELECT path, octet_length(content) AS bytes, left(content, ${SHOWN_MAX_CHARACTERS}) AS content
   FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1 AND hash_path(path) = hash_path($2)`,
);

/**
 * Reads a page of a contract's sources, bounded in size.
 * @returns undefined if the address (lower-case hex) has no match with evidence on the chain
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export function readSourcePage(
  database: Queryable,
  chainId: number,
  address: Hex,
  question: SourceQuery,
): Promise<SourcePage | undefined> {
  return readPage(database, READ_SIZES, [chainId, hexToBytes(address)], question);
}

/**
 * Like {@link readSourcePage}, of the match that was withdrawn last: the store keeps its evidence.
 * @returns undefined if the address has a match, never had one, or its evidence is unknown
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export function readWithdrawnSourcePage(
  database: Queryable,
  chainId: number,
  address: Hex,
  question: SourceQuery,
): Promise<SourcePage | undefined> {
  return readPage(database, READ_WITHDRAWN_SIZES, [chainId, hexToBytes(address)], question);
}

async function readPage(
  database: Queryable,
  readSizes: Statement,
  place: readonly [chainId: number, address: Buffer],
  { after, limit, path }: SourceQuery,
): Promise<SourcePage | undefined> {
  const [sizes] = await database.query<SizesRow>(readSizes, [...place]);
  if (sizes === undefined) return undefined;
  const rows = await database.query<PagedSource>(READ_PAGE, [
    sizes.compilation_id,
    after ?? null,
    limit + 1,
  ]);
  const sources = rows.slice(0, limit);
  const last = sources.at(-1);
  let shown: ShownSource | undefined;
  for (const candidate of [path, sizes.target, sources[0]?.path]) {
    if (candidate === undefined || shown !== undefined) continue;
    const values = [sizes.compilation_id, candidate];
    [shown] = await database.query<ShownSource>(READ_SHOWN, values);
  }
  return {
    ...(shown && { shown }),
    sources,
    total: sizes.total,
    metadataBytes: sizes.metadata_bytes,
    ...(rows.length > limit && last !== undefined && { next: last.path }),
  };
}
