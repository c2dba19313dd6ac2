import { isUnprotectedLibrary } from '../bytecode/explained-value.ts';
import { type Hex, hexToBytes } from '../lib/hex.ts';
import { sql, type Database } from '../store/database.ts';
import { VerificationFailure } from './verification-failure.ts';
import { requireReadableYul } from './yul-program.ts';

// Imported matches were judged elsewhere, by what is not stored here.
const READ_JUDGED = sql(
  'read what a match was judged by',
  `SELECT verified_contract_id, compilation_id, language,
     runtime_values -> 'immutables' AS immutables
   FROM current_matches JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE chain_id = $1 AND address = $2 AND origin <> 'imported'`,
);
const READ_TEXTS = sql(
  'read texts of a judged match',
  `SELECT path, content FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1`,
);

/** Why today's rules refuse a match that an earlier version stored. */
export type StoredRefusal = 'call_protection_missing' | 'verbatim_not_allowed';

/**
 * Judges a stored match again by those rules of today that need no compilation: a library has its own address in its
 * code, and a Yul program holds no code as bytes.
 * @param code what runs at the address, which is the code of the match.
 * @returns undefined where the rules take it, and for an imported match
 */
export async function findStoredRefusal(
  database: Database,
  chainId: number,
  address: Hex,
  code: Uint8Array,
): Promise<{ readonly matchId: string; readonly refusal: StoredRefusal } | undefined> {
  const [row] = await database.query<{
    verified_contract_id: string;
    compilation_id: string;
    language: string;
    immutables: Readonly<Record<string, Hex>> | null;
  }>(READ_JUDGED, [chainId, hexToBytes(address)]);
  if (row === undefined) return undefined;
  const matchId = row.verified_contract_id;
  if (row.language !== 'yul') {
    const isRefused = isUnprotectedLibrary(code, row.immutables ?? {});
    return isRefused ? { matchId, refusal: 'call_protection_missing' } : undefined;
  }
  const texts = await database.query<{ path: string; content: string }>(READ_TEXTS, [
    row.compilation_id,
  ]);
  const sources = Object.fromEntries(texts.map(({ path, content }) => [path, { content }]));
  try {
    requireReadableYul({ language: 'Yul', sources, settings: {} });
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationFailure)) throw error;
    return { matchId, refusal: 'verbatim_not_allowed' };
  }
}
