import { isUnprotectedLibrary } from '../../bytecode/explained-value.ts';
import { type Hex, hexToBytes } from '../../lib/hex.ts';
import { sql, type Database } from '../../store/database.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { requireNoRawBytecode } from '../compilation/yul-program.ts';

// Imported matches were judged elsewhere, with data that is not stored here. Alternative sources are never
// imported.
const READ_JUDGED = sql(
  'read what matches were judged by',
  `WITH judged AS (
     SELECT verified_contract_id, true AS is_shown FROM current_matches
     WHERE chain_id = $1 AND address = $2 AND origin <> 'imported'
     UNION ALL
     SELECT verified_contract_id, false FROM alternative_matches WHERE chain_id = $1 AND address = $2
   )
   SELECT verified_contract_id, is_shown, compilation_id, language, runtime_values -> 'immutables' AS immutables
   FROM judged JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id`,
);
const READ_TEXTS = sql(
  'read texts of a judged match',
  `SELECT path, content FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1`,
);

/** Why the current rules reject a match that an earlier version stored. */
export type StoredRefusal = 'call_protection_missing' | 'verbatim_not_allowed';

interface JudgedRow {
  readonly verified_contract_id: string;
  readonly is_shown: boolean;
  readonly compilation_id: string;
  readonly language: string;
  readonly immutables: Readonly<Record<string, Hex>> | null;
}

/** The matches of a contract that the current rules reject, by match id. */
export interface StoredRefusals {
  /** The current match, if it is rejected. */
  readonly shown?: { readonly matchId: string; readonly refusal: StoredRefusal };
  /** The rejected alternative sources of the match. */
  readonly alternatives: readonly string[];
}

/**
 * Checks a stored match and its alternatives against the current rules that need no compilation: a library
 * has its own address in its bytecode, and a Yul program contains no raw bytecode. Imported matches are not
 * checked.
 * @param code the runtime bytecode at the address, which the match refers to.
 */
export async function findStoredRefusals(
  database: Database,
  chainId: number,
  address: Hex,
  code: Uint8Array,
): Promise<StoredRefusals> {
  const rows = await database.query<JudgedRow>(READ_JUDGED, [chainId, hexToBytes(address)]);
  let shown: StoredRefusals['shown'];
  const alternatives: string[] = [];
  for (const row of rows) {
    const refusal = await judgeStored(database, row, code);
    if (refusal === undefined) continue;
    if (row.is_shown) shown = { matchId: row.verified_contract_id, refusal };
    else alternatives.push(row.verified_contract_id);
  }
  return { alternatives, ...(shown && { shown }) };
}

async function judgeStored(
  database: Database,
  { compilation_id, language, immutables }: JudgedRow,
  code: Uint8Array,
): Promise<StoredRefusal | undefined> {
  if (language !== 'yul') {
    return isUnprotectedLibrary(code, immutables ?? {}) ? 'call_protection_missing' : undefined;
  }
  const texts = await database.query<{ path: string; content: string }>(READ_TEXTS, [
    compilation_id,
  ]);
  const sources = Object.fromEntries(texts.map(({ path, content }) => [path, { content }]));
  try {
    requireNoRawBytecode({ language: 'Yul', sources, settings: {} });
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationFailure)) throw error;
    return 'verbatim_not_allowed';
  }
}
