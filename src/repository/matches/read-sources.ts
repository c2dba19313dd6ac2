import { type Queryable, sql } from '../../store/database.ts';

const READ_SOURCES = sql(
  'read sources',
  `SELECT path, content FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1 ORDER BY path COLLATE "C"`,
);

/** Reads the sources of a stored compilation, by path. */
export function readSources(
  database: Queryable,
  compilationId: string,
): Promise<readonly { readonly path: string; readonly content: string }[]> {
  return database.query<{ path: string; content: string }>(READ_SOURCES, [compilationId]);
}
