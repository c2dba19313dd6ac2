import { type EventLoopYielder } from './event-loop-yielder.ts';
import { KeccakStream } from './keccak.ts';

const PIECE_BYTES = 64 * 1024;

/**
 * Computes the Keccak-256 hash of bytes of any length, yielding to other work of the thread: 30 MB take a
 * quarter of a second.
 */
export async function keccak256WithPauses(
  bytes: Uint8Array,
  pauses: EventLoopYielder,
): Promise<Uint8Array> {
  const hash = new KeccakStream();
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    hash.update(bytes.subarray(offset, offset + PIECE_BYTES));
    await pauses.take();
  }
  return hash.digest();
}
