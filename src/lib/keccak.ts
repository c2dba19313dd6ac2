import { keccak_256 } from '@noble/hashes/sha3.js';

/** The Keccak-256 hash, 32 bytes, as Ethereum uses it (not the final SHA3-256). */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}
