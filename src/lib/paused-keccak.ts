import { keccak_256 } from '@noble/hashes/sha3.js';
import { type EventLoopYielder } from './event-loop-yielder.ts';

const PIECE_BYTES = 64 * 1024;

/**
 * Computes the Keccak-256 hash of bytes of any length, yielding to other work of the thread: 5 MB take a
 * quarter of a second.
 */
export async function keccak256WithPauses(
  bytes: Uint8Array,
  pauses: EventLoopYielder,
): Promise<Uint8Array> {
  const hash = keccak_256.create();
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    hash.update(bytes.subarray(offset, offset + PIECE_BYTES));
    await pauses.take();
  }
  return hash.digest();
}
