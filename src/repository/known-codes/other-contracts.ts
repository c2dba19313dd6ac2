import { type MaskedCode } from '../../bytecode/masked-code.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { addKnownCodes } from './add-known-codes.ts';
import { CURRENT_MATCHES } from './current-compilations.ts';

// Usage counts come with the feed. Each clone comes here again, so existing rows are not written.
const NOTE_COMPILATION = sql(
  'note compilation of other contracts',
  `WITH stored AS (SELECT id FROM compiled_contracts WHERE id = $1),
   noted AS (INSERT INTO indexed_compilations (compilation_id) SELECT id FROM stored ON CONFLICT DO NOTHING)
   SELECT id FROM stored`,
);
const LIST_UNINDEXED = sql(
  'list compilations without other contracts',
  `SELECT compilation_id FROM indexed_compilations AS indexed
   WHERE NOT are_others_indexed AND compilation_id > $1 AND EXISTS (
     ${CURRENT_MATCHES} WHERE verified_contracts.compilation_id = indexed.compilation_id
       AND ($2::bigint IS NULL OR current_matches.chain_id = $2))
   ORDER BY compilation_id LIMIT $3`,
);
const IS_PROJECT_INDEXED = sql(
  'is project indexed',
  `SELECT EXISTS (SELECT FROM indexed_compilations
     WHERE project_hash = $1 AND are_others_indexed) AS is_indexed`,
);
const MARK_INDEXED = sql(
  'mark other contracts as indexed',
  `UPDATE indexed_compilations SET are_others_indexed = true, project_hash = coalesce($2, project_hash)
   WHERE compilation_id = $1`,
);

const NO_ID = '00000000-0000-0000-0000-000000000000';
const PAGE_SIZE = 100;

/** A contract in the sources of a compilation that was made for another one of them. */
export interface OtherContract {
  readonly path: string;
  readonly name: string;
  readonly code: MaskedCode;
}

/** Adds the other contracts of a compilation to the index in one transaction; none if the compilation is not stored. */
export async function addOtherContracts(
  database: Database,
  compilationId: string,
  contracts: readonly OtherContract[],
): Promise<void> {
  if (contracts.length === 0) return;
  await database.transaction(async (transaction) => {
    if ((await transaction.query(NOTE_COMPILATION, [compilationId])).length === 0) return;
    await addKnownCodes(
      transaction,
      contracts.map(({ path, name, code }) => ({
        ...{ compilationId, fullyQualifiedName: `${path}:${name}`, code },
        isCompiled: false,
      })),
    );
  });
}

/** Ids of compilations with a current match whose other contracts are not all indexed. */
export async function* listUnindexed(
  database: Queryable,
  chainId: number | undefined,
): AsyncGenerator<string> {
  let after = NO_ID;
  for (;;) {
    const values = [after, chainId ?? null, PAGE_SIZE];
    const rows = await database.query<{ compilation_id: string }>(LIST_UNINDEXED, values);
    for (const { compilation_id: id } of rows) yield id;
    after = rows.at(-1)?.compilation_id ?? after;
    if (rows.length < PAGE_SIZE) return;
  }
}

/** Whether all contracts of these sources, settings and compiler are in the index. */
export async function isProjectIndexed(
  database: Queryable,
  projectHash: Uint8Array,
): Promise<boolean> {
  const [row] = await database.query<{ is_indexed: boolean }>(IS_PROJECT_INDEXED, [projectHash]);
  return row?.is_indexed === true;
}

/**
 * Records that a compilation is fully indexed.
 * @param projectHash SHA-256 of its sources, settings and compiler, if they were read
 */
export async function markIndexed(
  database: Queryable,
  compilationId: string,
  projectHash?: Uint8Array,
): Promise<void> {
  await database.query(MARK_INDEXED, [compilationId, projectHash ?? null]);
}
