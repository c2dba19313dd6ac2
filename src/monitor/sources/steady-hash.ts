import { keccak_256 } from '@noble/hashes/sha3.js';
import { type MetadataHashKind } from '../../bytecode/auxdata.ts';
import { hashMetadataInSteps } from '../../bytecode/metadata-hash.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { Turns } from './turns.ts';

const PIECE_BYTES = 64 * 1024;

/** The keccak256 of a content, however large, beside other work of the thread. */
export async function hashContent(bytes: Uint8Array, turns = new Turns()): Promise<Hex> {
  const hash = keccak_256.create();
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    hash.update(bytes.subarray(offset, offset + PIECE_BYTES));
    await turns.give();
  }
  return bytesToHex(hash.digest());
}

/** The hash by which code names these bytes as its metadata, computed beside other work of the thread. */
export async function hashMetadataSteadily(
  kind: MetadataHashKind,
  bytes: Uint8Array,
  turns = new Turns(),
): Promise<Uint8Array> {
  const steps = hashMetadataInSteps(kind, bytes);
  let step = steps.next();
  while (step.done !== true) {
    await turns.give();
    step = steps.next();
  }
  return step.value;
}
