// IPFS formats, without I/O: content identifiers here; blocks, files and archives in the neighbouring files.
import { createHash } from 'node:crypto';
import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';

/** A verifiable block: the SHA-256 of its bytes, which are a file node or raw bytes. */
export interface BlockCid {
  /** Text of the CID for requests to gateways. */
  readonly text: string;
  readonly codec: 'dag-pb' | 'raw';
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

const SHA2_256 = 0x12;
const HASH_BYTES = 32;
const CODECS: ReadonlyMap<number, BlockCid['codec']> = new Map([
  [0x70, 'dag-pb'],
  [0x55, 'raw'],
]);
/** `Qm…`, or a version 1 CID in base32 (`b…`) or base58 (`z…`); no verifiable CID is longer. */
const CID_TEXT = /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58}|z[1-9A-HJ-NP-Za-km-z]{40,60})$/;

function toBlockCid(cid: CID): BlockCid | undefined {
  const codec = CODECS.get(cid.code);
  const { code, digest } = cid.multihash;
  if (codec === undefined || code !== SHA2_256 || digest.length !== HASH_BYTES) return undefined;
  return {
    // Computed lazily, since most links of a malicious block are never followed.
    get text() {
      return cid.toString();
    },
    codec,
    hash: digest,
  };
}

/** Parses a CID from a URL; undefined if it is invalid or of a kind that cannot be verified here. */
export function parseCid(text: string): BlockCid | undefined {
  if (!CID_TEXT.test(text)) return undefined;
  try {
    return toBlockCid(CID.parse(text));
  } catch {
    return undefined;
  }
}

/** Returns the version 0 CID of a file, given the hash in the auxdata. */
export function cidOfFile(hash: Uint8Array): BlockCid {
  const cid = CID.createV0(createDigest(SHA2_256, hash));
  return { text: cid.toString(), codec: 'dag-pb', hash };
}

/** Reads a CID at the start of bytes, with its length; undefined if there is none. */
export function readCid(
  bytes: Uint8Array,
): { readonly cid: BlockCid | undefined; readonly length: number } | undefined {
  try {
    const [cid, rest] = CID.decodeFirst(bytes);
    return { cid: toBlockCid(cid), length: bytes.length - rest.length };
  } catch {
    return undefined;
  }
}

/** Returns a map key for the hash of a block: two CIDs with the same hash name the same bytes. */
export function keyOfHash(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64');
}

/** Returns a map key for a block and its codec, the same for all text forms of a CID. */
export function keyOfCid({ codec, hash }: BlockCid): string {
  return `${codec} ${keyOfHash(hash)}`;
}

/** Returns whether these bytes are the block. */
export function verifiesBlock({ hash }: BlockCid, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest().equals(hash);
}
