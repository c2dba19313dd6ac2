// Formats of IPFS, without I/O: content identifiers here, and blocks, files and archives beside.
import { createHash } from 'node:crypto';
import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';

/** The name of a block that this service can check: SHA-256 of its bytes, which are a node of a file or plain bytes. */
export interface BlockCid {
  /** As a gateway is asked for it. */
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
/** `Qm…`, or a CID of version 1 in base32 (`b…`) or base58 (`z…`): none that can be checked is longer. */
const CID_TEXT = /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58}|z[1-9A-HJ-NP-Za-km-z]{40,60})$/;

function toBlockCid(cid: CID): BlockCid | undefined {
  const codec = CODECS.get(cid.code);
  const { code, digest } = cid.multihash;
  if (codec === undefined || code !== SHA2_256 || digest.length !== HASH_BYTES) return undefined;
  return {
    // Written where it is asked for: most links of a hostile block are never followed.
    get text() {
      return cid.toString();
    },
    codec,
    hash: digest,
  };
}

/** The CID that a URL names; undefined where it is none, or of a kind that cannot be checked here. */
export function parseCid(text: string): BlockCid | undefined {
  if (!CID_TEXT.test(text)) return undefined;
  try {
    return toBlockCid(CID.parse(text));
  } catch {
    return undefined;
  }
}

/** The CID of version 0 of a file: what the hash in an auxdata stands for. */
export function cidOfFile(hash: Uint8Array): BlockCid {
  const cid = CID.createV0(createDigest(SHA2_256, hash));
  return { text: cid.toString(), codec: 'dag-pb', hash };
}

/** The CID that bytes begin with, and how many bytes it has; undefined where they begin with none. */
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

/** The hash of a block as a key of maps: two CIDs with one hash name the same bytes. */
export function keyOfHash(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64');
}

/** A block and how it is read, as a key of maps: many texts of a CID name the same. */
export function keyOfCid({ codec, hash }: BlockCid): string {
  return `${codec} ${keyOfHash(hash)}`;
}

/** Whether these bytes are the block. */
export function isBlockOf({ hash }: BlockCid, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest().equals(hash);
}
