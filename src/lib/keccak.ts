import { keccak_256 } from '@noble/hashes/sha3.js';

/** Returns the 32-byte Keccak-256 hash as used by Ethereum (not the final SHA3-256). */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}
