import { maskCode } from '../../bytecode/masked-code.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { sql, type Database } from '../../store/database.ts';
import { addKnownCodes, type KnownContract } from './add-known-codes.ts';

/** Bytecodes indexed in one transaction: some milliseconds of processor time. */
const CODES_AT_ONCE = 50;

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
/**
 * Adds the bytecode of stored compilations to the index, batch by batch. Claimed bytecode is left out.
 * Processes share the work.
 * @returns the number of compilations processed; 0 if nothing was due
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
    // One bytecode may take a tenth of a second.
    const pauses = new EventLoopYielder();
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
