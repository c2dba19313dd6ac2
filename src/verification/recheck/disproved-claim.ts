import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  METADATA_HASH_BYTES,
  type MetadataHashKind,
  readTrailingAuxdata,
} from '../../bytecode/auxdata.ts';
import { hashMetadata } from '../../bytecode/metadata-hash.ts';
import { type Hex, hexToBytes } from '../../lib/hex.ts';
import { isMembers } from '../../lib/members.ts';
import { sql, type Database } from '../../store/database.ts';

const READ_CLAIM = sql(
  'read claim of a full match',
  `SELECT verified_contract_id, metadata FROM current_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE current_matches.chain_id = $1 AND current_matches.address = $2 AND origin = 'imported' AND match = 'full'`,
);

const escapeUnit = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** How solc releases write characters in JSON: non-ASCII unescaped or escaped, the newest ones also escaping DEL. */
const ESCAPES: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => json.replace(/[^\0-\x7f]/g, escapeUnit),
  (json) => json.replace(/[^\0-\x7e]/g, escapeUnit),
];

/** Releases of 0.4 write control characters with upper-case hex digits. */
function withCapitalDigits(json: string): string {
  return json.replace(/\\(?:u00([01][0-9a-f])|.)/g, (escape, digits?: string) =>
    digits === undefined ? escape : `\\u00${digits.toUpperCase()}`,
  );
}

/**
 * Yields the known spellings of a metadata document: as it is, and as compiler releases serialize JSON, with
 * members in file order or sorted. A hash of any of them proves the content of the document. Spellings are
 * generated lazily, since documents may be large and most need no escapes.
 */
function* spellingsOf(metadata: string): Generator<string> {
  yield metadata;
  const document: unknown = JSON.parse(metadata);
  for (const write of [JSON.stringify, writeSorted]) {
    const compact = write(document);
    let before: string | undefined;
    for (const escape of ESCAPES) {
      const escaped = escape(compact);
      if (escaped === before) continue;
      before = escaped;
      yield escaped;
      const capital = withCapitalDigits(escaped);
      if (capital !== escaped) yield capital;
    }
  }
}

/** Serializes JSON with sorted members, as the compiler does. */
function writeSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  // Sorts by bytes: UTF-16 order differs beyond the basic plane.
  const keys = Object.keys(value).sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  return `{${keys.map((key) => `${JSON.stringify(key)}:${writeSorted(value[key])}`).join(',')}}`;
}

/**
 * Returns whether a hash is that of one of the spellings. A document nested too deeply to serialize has only
 * its own.
 */
function namesDocument(kind: MetadataHashKind, hash: Uint8Array, metadata: string): boolean {
  try {
    for (const spelling of spellingsOf(metadata)) {
      if (Buffer.compare(hashMetadata(kind, spelling), hash) === 0) return true;
    }
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
  }
  return false;
}

/**
 * Returns whether sources with this metadata cannot fully match a bytecode: it has no metadata hash, so a
 * full match is impossible, or that of another document.
 */
export function disprovesFullMatch(code: Uint8Array, metadata: string): boolean {
  const auxdata = readTrailingAuxdata(code);
  if (auxdata?.metadataHash === undefined) return true;
  const { kind, offset } = auxdata.metadataHash;
  const start = auxdata.offset + offset;
  return !namesDocument(kind, code.subarray(start, start + METADATA_HASH_BYTES), metadata);
}

const MAX_KNOWN = 1_000;
/** Cached results by match id and bytecode: hashing a large document repeatedly would block the main thread. */
const known = new LRUCache<string, boolean>({ max: MAX_KNOWN });

/**
 * Returns the id of the current match if it is an imported claim of a full match that the bytecode on chain
 * disproves. Compares the hash of the claim's metadata.json without compiling; the import checked the sources
 * against the hashes in that document.
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
  if (claim === undefined) return undefined;
  const { verified_contract_id: matchId, metadata } = claim;
  const codeHash = createHash('sha256').update(code).digest('hex');
  const key = `${chainId} ${address} ${matchId} ${codeHash}`;
  let isDisproved = known.get(key);
  if (isDisproved === undefined) {
    isDisproved = disprovesFullMatch(code, metadata ?? '{}');
    known.set(key, isDisproved);
  }
  return isDisproved ? matchId : undefined;
}
