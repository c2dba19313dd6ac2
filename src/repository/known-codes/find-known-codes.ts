import { type MaskedCode } from '../../bytecode/masked-code.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** A contract of a stored compilation that may have produced a bytecode. */
export interface KnownCandidate {
  readonly compilationId: string;
  readonly fullyQualifiedName: string;
  /** Whether its own bytecode is stored; otherwise it is another contract of the sources. */
  readonly isCompiled: boolean;
  /** Whether its bytecode contains the same metadata hashes as the bytecode on chain. */
  readonly hasSameMetadata: boolean;
}

/** Maximum contracts whose metadata hashes are those on chain. */
const SAME_METADATA = 8;
/** Maximum distinct compiled bytecodes that are proposed for one masked bytecode. */
const SAME_MASK = 16;
/** Maximum bytecodes of one masked hash that are examined, the oldest first: additions cannot hide an older one. */
const MAX_EXAMINED = 5000;
/** Maximum contracts that are only similar. */
const SIMILAR = 4;

// A contract that was compiled itself is judged by stored evidence, so it comes first; then the most
// frequently used one.
const FIRST = `is_compiled DESC, uses DESC, contract.compilation_id`;
const COLUMNS = `contract.compilation_id, contract.fully_qualified_name, is_compiled, metadata_key`;

const FIND_SAME_METADATA = sql(
  'find known codes of the same metadata',
  `SELECT ${COLUMNS} FROM known_contracts AS contract
   JOIN known_codes ON known_codes.id = known_code_id
   JOIN indexed_compilations AS indexed ON indexed.compilation_id = contract.compilation_id
   WHERE metadata_key = $1 ORDER BY masked_hash = $2 DESC, ${FIRST} LIMIT ${SAME_METADATA}`,
);
/** Up to this many comparisons of constants are faster than a lookup in a table. */
const COMPARED = 20_000;

// The more constants a bytecode has in common, the less is explained by values. Comparing all pairs of
// constants would take seconds for many bytecodes with a thousand constants that differ only in the last.
const FIND_SAME_MASK = sql(
  'find known codes of the same mask',
  `WITH code_on_chain AS MATERIALIZED (SELECT string_to_array($2::text, ',')::bigint[] AS known)
   SELECT best.* FROM (
     SELECT id FROM (
       SELECT id, constants FROM known_codes WHERE masked_hash = $1 ORDER BY id LIMIT ${MAX_EXAMINED}
     ) AS first CROSS JOIN code_on_chain
     WHERE CASE WHEN cardinality(constants)::bigint * cardinality(known) <= ${COMPARED} THEN constants <@ known
       ELSE NOT EXISTS (SELECT unnest(constants) EXCEPT SELECT unnest(known)) END
     ORDER BY cardinality(constants) DESC, id LIMIT ${SAME_MASK}
   ) AS code
   CROSS JOIN LATERAL (
     SELECT ${COLUMNS} FROM known_contracts AS contract
     JOIN indexed_compilations AS indexed ON indexed.compilation_id = contract.compilation_id
     WHERE known_code_id = code.id ORDER BY ${FIRST} LIMIT 1
   ) AS best`,
);
const FIND_SIMILAR = sql(
  'find similar known codes',
  `SELECT best.* FROM (
     SELECT id FROM known_codes
     WHERE prefix_hash = $1 AND length = $2 AND masked_hash <> $3 ORDER BY id LIMIT ${SIMILAR}
   ) AS code
   CROSS JOIN LATERAL (
     SELECT ${COLUMNS} FROM known_contracts AS contract
     JOIN indexed_compilations AS indexed ON indexed.compilation_id = contract.compilation_id
     WHERE known_code_id = code.id ORDER BY ${FIRST} LIMIT 1
   ) AS best`,
);

interface CandidateRow {
  readonly compilation_id: string;
  readonly fully_qualified_name: string;
  readonly is_compiled: boolean;
  readonly metadata_key: Buffer | null;
}

const toCandidates = (
  rows: readonly CandidateRow[],
  metadataKey: Uint8Array | undefined,
): readonly KnownCandidate[] =>
  rows.map((row) => ({
    compilationId: row.compilation_id,
    fullyQualifiedName: row.fully_qualified_name,
    isCompiled: row.is_compiled,
    hasSameMetadata: metadataKey !== undefined && row.metadata_key?.equals(metadataKey) === true,
  }));

/**
 * Finds stored contracts that may have produced a bytecode on chain, those that would be a full match first.
 * Contracts with equal metadata hashes are proposed regardless of their masked bytecode, since via-IR
 * bytecode may depend on the order of files. The number of proposals is limited, and additions to the index
 * never displace a true one: a bytecode occurs once for all its texts, and one with other constants and other
 * metadata is excluded.
 */
export async function* findKnownCodes(
  database: Queryable,
  { metadataKey, maskedHash, constants }: MaskedCode,
): AsyncGenerator<KnownCandidate> {
  if (metadataKey !== undefined) {
    const values = [metadataKey, maskedHash];
    const rows = await database.query<CandidateRow>(FIND_SAME_METADATA, values);
    yield* toCandidates(rows, metadataKey);
  }
  const values = [maskedHash, constants.join(',')];
  const rows = await database.query<CandidateRow>(FIND_SAME_MASK, values);
  yield* toCandidates(rows, metadataKey);
}

/**
 * Stored contracts with a different masked bytecode, but the same beginning and length: a value outside of
 * PUSH data changes the masked bytecode.
 */
export async function findSimilarCodes(
  database: Queryable,
  { metadataKey, length, prefixHash, maskedHash }: MaskedCode,
): Promise<readonly KnownCandidate[]> {
  const values = [prefixHash, length, maskedHash];
  return toCandidates(await database.query<CandidateRow>(FIND_SIMILAR, values), metadataKey);
}
