import { Tokenizer, type Token } from 'cborg';

/** Kind of a metadata hash in an auxdata: an IPFS multihash, or a Swarm hash of version 0 or 1. */
export type MetadataHashKind = 'ipfs' | 'bzzr0' | 'bzzr1';

/**
 * The trailer that solc appends to bytecode: a CBOR map and the map's length in two bytes, big-endian
 * (Solidity documentation, "Encoding of the Metadata Hash in the Bytecode"). Solar appends the same under its
 * own name.
 */
export interface Auxdata {
  /** Length in bytes, including the two length bytes. */
  readonly length: number;
  /** Offset of the 32-byte hash from the start of the auxdata. Absent with `bytecodeHash: none`. */
  readonly metadataHash?: { readonly kind: MetadataHashKind; readonly offset: number };
  /** The compiler's version, `0.8.20`, or the long version of a prerelease build. */
  readonly solc?: string;
  /** The version of Solar, which has its own numbering: `0.3.0`. */
  readonly solar?: string;
  /** Whether the bytecode comes from an experimental part of the compiler. */
  readonly experimental?: boolean;
}

/** The auxdata at the very end of a bytecode. */
export interface TrailingAuxdata extends Auxdata {
  /** Its offset in the bytecode, in bytes. */
  readonly offset: number;
}

/** Length of a metadata hash, the part that may differ in a partial match. */
export const METADATA_HASH_BYTES = 32;
/** Multihash prefix of the hash: SHA2-256 (0x12), 32 bytes (0x20). */
const MULTIHASH_PREFIX = [0x12, 0x20] as const;
const LENGTH_BYTES = 2;
const RELEASE_BYTES = 3;
/** The last entry of a release's auxdata, without its three bytes of version. */
const SOLC_ENTRY = Buffer.from('64736f6c6343', 'hex');
/** More than solc writes. */
const MAX_AUXDATA_BYTES = 256;
/** Submitted code may consist only of such entries. */
const MAX_ENTRIES_TRIED = 1_000;
const CBOR_OPTIONS = { strict: true, allowIndefinite: false, allowUndefined: false };
const MAP_OF_NONE = 0xa0;
const KEYS = 4;

type Fields = Omit<{ -readonly [Key in keyof Auxdata]: Auxdata[Key] }, 'length'>;

function readHash(kind: MetadataHashKind, value: Uint8Array, end: number): Fields | undefined {
  const offset = end - METADATA_HASH_BYTES;
  if (kind !== 'ipfs') {
    return value.length === METADATA_HASH_BYTES ? { metadataHash: { kind, offset } } : undefined;
  }
  const isMultihash =
    value.length === MULTIHASH_PREFIX.length + METADATA_HASH_BYTES &&
    MULTIHASH_PREFIX.every((byte, index) => value[index] === byte);
  return isMultihash ? { metadataHash: { kind, offset } } : undefined;
}

function readCompiler(compiler: 'solc' | 'solar', token: Token): Fields | undefined {
  if (token.type.name === 'string') return { [compiler]: token.value as string };
  const value = token.value as Uint8Array;
  return token.type.name === 'bytes' && value.length === RELEASE_BYTES
    ? { [compiler]: value.join('.') }
    : undefined;
}

/** Reads an entry; returns undefined if the key is not a compiler's or its value is malformed. */
function readEntry(key: string, token: Token, end: number): Fields | undefined {
  switch (key) {
    case 'ipfs':
    case 'bzzr0':
    case 'bzzr1':
      return token.type.name === 'bytes'
        ? readHash(key, token.value as Uint8Array, end)
        : undefined;
    case 'solc':
    case 'solar':
      return readCompiler(key, token);
    case 'experimental':
      return typeof token.value === 'boolean' ? { experimental: token.value } : undefined;
    default:
      return undefined;
  }
}

function readMap(bytes: Uint8Array): (Fields & { readonly length: number }) | undefined {
  const tokens = new Tokenizer(bytes, CBOR_OPTIONS);
  const entries = tokens.next().value as number;
  const seen = new Set<string>();
  const fields: Fields = {};
  for (let index = 0; index < entries; index += 1) {
    const key = tokens.next();
    if (key.type.name !== 'string' || seen.has(key.value as string)) return undefined;
    seen.add(key.value as string);
    const read = readEntry(key.value as string, tokens.next(), tokens.pos());
    if (read === undefined || (read.metadataHash && fields.metadataHash)) return undefined;
    Object.assign(fields, read);
  }
  return { ...fields, length: tokens.pos() };
}

/**
 * Reads the auxdata at `offset` of the bytecode. Returns undefined unless there is a definite CBOR map of one
 * to four known keys, each at most once, with well-formed values and at most one hash, followed by its own
 * length.
 */
export function readAuxdataAt(code: Uint8Array, offset: number): Auxdata | undefined {
  const first = code[offset];
  if (first === undefined || first <= MAP_OF_NONE || first > MAP_OF_NONE + KEYS) return undefined;
  let map;
  try {
    map = readMap(code.subarray(offset));
  } catch {
    // Not CBOR, or the bytecode ends before the map does.
    return undefined;
  }
  if (map === undefined) return undefined;
  const end = offset + map.length;
  const stated = ((code[end] ?? -1) << 8) | (code[end + 1] ?? -1);
  return stated === map.length ? { ...map, length: map.length + LENGTH_BYTES } : undefined;
}

/** Reads the auxdata at the very end of the bytecode. */
export function readTrailingAuxdata(code: Uint8Array): TrailingAuxdata | undefined {
  if (code.length < LENGTH_BYTES) return undefined;
  const length = (((code.at(-2) ?? 0) << 8) | (code.at(-1) ?? 0)) + LENGTH_BYTES;
  const offset = code.length - length;
  const auxdata = offset < 0 ? undefined : readAuxdataAt(code, offset);
  return auxdata?.length === length ? { ...auxdata, offset } : undefined;
}

/** Lists the auxdata that releases of solc wrote anywhere into a bytecode, the last first. Linear in its length. */
export function listReleaseAuxdata(bytes: Uint8Array): readonly Auxdata[] {
  const code = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Auxdata[] = [];
  let entry = code.length;
  for (let tried = 0; tried < MAX_ENTRIES_TRIED && entry > 0; tried += 1) {
    entry = code.lastIndexOf(SOLC_ENTRY, entry - 1);
    if (entry < 0) break;
    const end = entry + SOLC_ENTRY.length + RELEASE_BYTES;
    const stated = ((code[end] ?? 0) << 8) | (code[end + 1] ?? 0);
    if (stated > MAX_AUXDATA_BYTES || stated > end) continue;
    const auxdata = readAuxdataAt(code.subarray(end - stated, end + LENGTH_BYTES), 0);
    if (auxdata?.length === stated + LENGTH_BYTES) found.push(auxdata);
  }
  return found;
}
