import { METADATA_HASH_BYTES, readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { hashMetadata } from '../bytecode/metadata-hash.ts';
import { type Hex, hexToBytes } from '../lib/hex.ts';
import { sql, type Database } from '../store/database.ts';

const READ_CLAIM = sql(
  'read claim of a full match',
  `SELECT verified_contract_id, metadata FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND origin = 'imported' AND match = 'full'`,
);

/**
 * The ways to write a metadata document that trees are known to hold: as it is, as the compiler writes JSON, and so with
 * escapes for all but ASCII. A hash of any of them proves what the document says.
 */
function* spellingsOf(metadata: string): Generator<string> {
  yield metadata;
  const compact = JSON.stringify(JSON.parse(metadata));
  yield compact;
  yield compact.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Whether a code cannot be fully matched by sources with this metadata: it ends without a metadata hash, so nothing matches it
 * fully, or with the hash of another document.
 */
export function disprovesFullMatch(code: Uint8Array, metadata: string): boolean {
  const auxdata = readTrailingAuxdata(code);
  if (auxdata?.metadataHash === undefined) return true;
  const { kind, offset } = auxdata.metadataHash;
  const start = auxdata.offset + offset;
  const named = code.subarray(start, start + METADATA_HASH_BYTES);
  for (const spelling of spellingsOf(metadata)) {
    if (Buffer.compare(hashMetadata(kind, spelling), named) === 0) return false;
  }
  return true;
}

/**
 * The number of the current match where it is an imported claim of a full match that the code on chain disproves. Nothing
 * is compiled for it: the hash of the claim's metadata.json, whose hashes the import held the sources to, is compared.
 */
export async function findDisprovedClaim(
  database: Database,
  chainId: number,
  address: Hex,
  code: Uint8Array,
): Promise<string | undefined> {
  const [claim] = await database.query<{ verified_contract_id: string; metadata: string | null }>(
    READ_CLAIM,
    [chainId, hexToBytes(address)],
  );
  const isDisproved = claim !== undefined && disprovesFullMatch(code, claim.metadata ?? '{}');
  return isDisproved ? claim.verified_contract_id : undefined;
}
