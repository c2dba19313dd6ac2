import { keccak_256 } from '@noble/hashes/sha3.js';

/** `src/lib/keccak.ts` for pages: their content security policy forbids WebAssembly. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}
