import { createKeccak } from 'hash-wasm';

const BITS = 256;
const keccak = await createKeccak(BITS);

/**
 * Returns the 32-byte Keccak-256 hash as used by Ethereum (not the final SHA3-256). The bundles of the pages have
 * `web/src/portable-keccak.ts` in its place.
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak.init().update(bytes).digest('binary');
}

/** A Keccak-256 hash of bytes that arrive in pieces, between which other hashes may be computed. */
export class KeccakStream {
  #state = keccak.init().save();

  update(bytes: Uint8Array): void {
    this.#state = keccak.load(this.#state).update(bytes).save();
  }

  /** The hash of the bytes so far. */
  digest(): Uint8Array {
    return keccak.load(this.#state).digest('binary');
  }
}
