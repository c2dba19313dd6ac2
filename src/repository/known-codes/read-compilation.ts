import { type ImmutableType } from '../../bytecode/immutable-type.ts';
import { readSources } from '../matches/read-sources.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Compilation } from '../matches/verified-contract.ts';

const READ_COMPILATION = sql(
  'read stored compilation',
  `SELECT compiler, version, language, name, fully_qualified_name, compiler_settings, compilation_artifacts, metadata,
     creation.code AS creation_code, creation_code_artifacts, runtime.code AS runtime_code, runtime_code_artifacts,
     (SELECT types FROM immutable_types WHERE compilation_id = $1) AS immutable_types,
     (SELECT coalesce(sum(octet_length(content)), 0) FROM compiled_contracts_sources JOIN sources USING (source_hash)
      WHERE compilation_id = $1)::float8 AS source_bytes,
     EXISTS (SELECT FROM verified_contracts WHERE compilation_id = $1
       AND runtime_metadata_match IS NOT TRUE AND creation_metadata_match IS NOT TRUE) AS gave_partial
   FROM compiled_contracts
   LEFT JOIN code AS creation ON creation.code_hash = creation_code_hash AND NOT are_codes_claimed
   LEFT JOIN code AS runtime ON runtime.code_hash = runtime_code_hash AND NOT are_codes_claimed
   WHERE id = $1`,
);

interface CompilationRow {
  readonly compiler: string;
  readonly version: string;
  readonly language: string;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly compiler_settings: Readonly<Record<string, unknown>>;
  readonly compilation_artifacts: Readonly<Record<string, unknown>>;
  readonly metadata: string | null;
  readonly creation_code: Buffer | null;
  readonly creation_code_artifacts: Readonly<Record<string, unknown>> | null;
  readonly runtime_code: Buffer | null;
  readonly runtime_code_artifacts: Readonly<Record<string, unknown>> | null;
  readonly immutable_types: Readonly<Record<string, ImmutableType>> | null;
  readonly source_bytes: number;
  readonly gave_partial: boolean;
}

/** A stored compilation. */
export interface StoredCompilation {
  /** Whether it needs sources outside the metadata is not stored: see {@link Compilation.hasUnlistedSources}. */
  readonly compilation: Compilation;
  /** Whether one of its matches is partial: it then proves no more than such a match. */
  readonly gavePartial: boolean;
}

/**
 * Reads a stored compilation with its bytecode and sources. Undefined if there is none, or if its sources
 * exceed `sourceBytes`.
 */
export async function readStoredCompilation(
  database: Queryable,
  id: string,
  sourceBytes: number,
): Promise<StoredCompilation | undefined> {
  const [row] = await database.query<CompilationRow>(READ_COMPILATION, [id]);
  if (row === undefined || row.source_bytes > sourceBytes) return undefined;
  const sources = await readSources(database, id);
  return {
    gavePartial: row.gave_partial,
    compilation: {
      language: row.language,
      compiler: row.compiler,
      version: row.version,
      name: row.name,
      fullyQualifiedName: row.fully_qualified_name,
      settings: row.compiler_settings,
      artifacts: row.compilation_artifacts,
      ...(row.metadata !== null && { metadata: row.metadata }),
      ...(row.creation_code && { creationCode: row.creation_code }),
      ...(row.creation_code_artifacts && { creationCodeArtifacts: row.creation_code_artifacts }),
      ...(row.runtime_code && { runtimeCode: row.runtime_code }),
      ...(row.runtime_code_artifacts && { runtimeCodeArtifacts: row.runtime_code_artifacts }),
      ...(row.immutable_types && { immutableTypes: row.immutable_types }),
      sources,
    },
  };
}
