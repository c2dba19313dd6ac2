import { type MaskedCode } from '../../bytecode/masked-code.ts';
import { sql, type Queryable } from '../../store/database.ts';

/** A contract of a stored compilation that may have given a code. */
export interface KnownCandidate {
  readonly compilationId: string;
  readonly fullyQualifiedName: string;
  /** Whether its own codes are stored; else it is another contract of the sources. */
  readonly isCompiled: boolean;
  /** Whether its code holds the very metadata hashes of the code on chain. */
  readonly hasSameMetadata: boolean;
}

/** Contracts whose metadata hashes are those on chain. */
const SAME_METADATA = 8;
/** Distinct compiled codes that are proposed for one masked code. */
const SAME_MASK = 16;
/** So many codes of one masked hash are looked at, the first that were known: who adds more later hides none of them. */
const LOOKED_AT = 5000;
/** Contracts that are only similar. */
const SIMILAR = 4;

// A contract that was compiled by itself is judged by what is stored, so it comes first; then the one that is used most.
const FIRST = `is_compiled DESC, uses DESC, contract.compilation_id`;
const COLUMNS = `contract.compilation_id, contract.fully_qualified_name, is_compiled, metadata_key`;

const FIND_SAME_METADATA = sql(
  'find known codes of the same metadata',
  `SELECT ${COLUMNS} FROM known_contracts AS contract
   JOIN known_codes ON known_codes.id = known_code_id
   JOIN indexed_compilations AS indexed ON indexed.compilation_id = contract.compilation_id
   WHERE metadata_key = $1 ORDER BY masked_hash = $2 DESC, ${FIRST} LIMIT ${SAME_METADATA}`,
);
/** So many comparisons of constants take less than looking them up in a table. */
const COMPARED = 20_000;

// The more constants a code has, the less of it is explained by values. Comparing each constant with each would take a
// processor for seconds where many codes have a thousand of them that differ in the last one.
const FIND_SAME_MASK = sql(
  'find known codes of the same mask',
  `WITH code_on_chain AS MATERIALIZED (SELECT string_to_array($2::text, ',')::bigint[] AS known)
   SELECT best.* FROM (
     SELECT id FROM (
       SELECT id, constants FROM known_codes WHERE masked_hash = $1 ORDER BY id LIMIT ${LOOKED_AT}
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
 * The stored contracts that may have given a code on chain, those first that would match in full. What holds the same
 * metadata hashes is proposed by itself, whatever its masked code is: code via IR may follow the order of files. The
 * proposals are bounded, and whoever adds codes to the index pushes no true one out of them: a compiled code comes once for
 * all its texts, and one with other constants and other metadata does not come at all.
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
 * Stored contracts whose masked code is another one, but which begin alike and have the length of the code: a value that lies
 * where no instruction pushes it changes the masked code.
 */
export async function findSimilarCodes(
  database: Queryable,
  { metadataKey, length, prefixHash, maskedHash }: MaskedCode,
): Promise<readonly KnownCandidate[]> {
  const values = [prefixHash, length, maskedHash];
  return toCandidates(await database.query<CandidateRow>(FIND_SIMILAR, values), metadataKey);
}
