import { maskCode } from '../../bytecode/masked-code.ts';
import { Pauses } from '../../lib/pauses.ts';
import { sql, type Database, type Queryable } from '../../store/database.ts';
import { addKnownCodes, type KnownContract } from './add-known-codes.ts';

/** Codes that are indexed in one transaction: some milliseconds of a processor. */
const CODES_AT_ONCE = 50;
/** A compilation of a compiler that was killed with its process is tried again after so long. */
const LEASE_MINUTES = 15;

const TAKE_CODES = sql(
  'take codes to index',
  `SELECT compilation_id, fully_qualified_name, code FROM (
     SELECT compilation_id FROM indexed_compilations WHERE NOT is_code_indexed
     ORDER BY compilation_id LIMIT ${CODES_AT_ONCE} FOR UPDATE SKIP LOCKED
   ) AS taken
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN code ON code_hash = runtime_code_hash AND NOT are_codes_claimed`,
);
const MARK_CODES = sql(
  'mark codes as indexed',
  'UPDATE indexed_compilations SET is_code_indexed = true WHERE compilation_id = ANY ($1::uuid[])',
);
const TAKE_PROJECT = sql(
  'take project to index',
  `UPDATE indexed_compilations SET tries = tries + 1, next_try_at = now() + interval '${LEASE_MINUTES} minutes'
   WHERE compilation_id = (
     SELECT compilation_id FROM indexed_compilations WHERE next_try_at <= now() AND is_code_indexed
     ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING compilation_id, tries`,
);
const IS_PROJECT_KNOWN = sql(
  'is project indexed',
  `SELECT EXISTS (SELECT FROM indexed_compilations
     WHERE project_hash = $1 AND next_try_at IS NULL AND reason IS NULL) AS is_known`,
);
const SETTLE_PROJECT = sql(
  'settle project',
  `UPDATE indexed_compilations SET next_try_at = now() + $2::float8 * interval '1 second', tries = tries - $3::int,
     project_hash = coalesce($4, project_hash), reason = $5
   WHERE compilation_id = $1`,
);

/**
 * Adds the codes of stored compilations to the index, as many as are due, some at a time. Codes that an import claims are left out.
 * Processes share the work.
 * @returns how many compilations were looked at; none where nothing was due
 */
export async function indexStoredCodes(database: Database): Promise<number> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<{
      compilation_id: string;
      fully_qualified_name: string;
      code: Buffer | null;
    }>(TAKE_CODES);
    if (rows.length === 0) return 0;
    const contracts: KnownContract[] = [];
    // One code may take a tenth of a second.
    const pauses = new Pauses();
    for (const { compilation_id: compilationId, fully_qualified_name, code } of rows) {
      if (code === null || code.length === 0) continue;
      const contract = { compilationId, fullyQualifiedName: fully_qualified_name };
      contracts.push({ ...contract, code: maskCode(code), isCompiled: true });
      await pauses.take();
    }
    await addKnownCodes(transaction, contracts);
    await transaction.query(MARK_CODES, [rows.map(({ compilation_id }) => compilation_id)]);
    return rows.length;
  });
}

/** A compilation whose sources may hold other contracts. */
export interface TakenProject {
  readonly compilationId: string;
  /** How often it was tried, this time included. */
  readonly tries: number;
}

/** Takes the next compilation whose other contracts are to be indexed, for a quarter of an hour; undefined where none is due. */
export async function takeProject(database: Queryable): Promise<TakenProject | undefined> {
  const [row] = await database.query<{ compilation_id: string; tries: number }>(TAKE_PROJECT);
  return row && { compilationId: row.compilation_id, tries: row.tries };
}

/** Whether the other contracts of these sources, settings and compiler are in the index already. */
export async function isProjectKnown(
  database: Queryable,
  projectHash: Uint8Array,
): Promise<boolean> {
  const [row] = await database.query<{ is_known: boolean }>(IS_PROJECT_KNOWN, [projectHash]);
  return row?.is_known === true;
}

/** How the indexing of a project ended. */
export interface SettledProject {
  /** SHA-256 of its sources, settings and compiler, where they were read. */
  readonly projectHash?: Uint8Array;
  /** Seconds until it is tried again; absent where nothing is left to do. */
  readonly retrySeconds?: number;
  /** Whether it had to give way, so that it does not count as tried. */
  readonly gaveWay?: boolean;
  /** Why its other contracts are not known: a code of the field. */
  readonly reason?: string;
}

/** Puts down how the indexing of a project ended. */
export async function settleProject(
  database: Queryable,
  compilationId: string,
  { projectHash, retrySeconds, gaveWay = false, reason }: SettledProject,
): Promise<void> {
  await database.query(SETTLE_PROJECT, [
    compilationId,
    retrySeconds ?? null,
    gaveWay ? 1 : 0,
    projectHash ?? null,
    reason ?? null,
  ]);
}
