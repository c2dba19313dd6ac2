import { countedCache } from '../lib/counted-cache.ts';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { sha256 } from '../repository/repository.ts';

const REMEMBERED_HASHES = 50_000;

/** Both hashes of a text. */
export interface ContentHashes {
  readonly sha256: Buffer;
  readonly keccak256: Hex;
}

/**
 * Caches the keccak256 of texts by their sha256. A repository contains the same library sources thousands of
 * times, and native sha256 is several times faster than keccak256 in WebAssembly.
 */
export class ContentHasher {
  readonly #known = countedCache<Hex>(REMEMBERED_HASHES);

  keccak256(content: Uint8Array): Hex {
    return this.hash(content).keccak256;
  }

  hash(content: Uint8Array): ContentHashes {
    const found = sha256(content);
    const key = found.toString('hex');
    const known = this.#known.get(key);
    const hash = known ?? bytesToHex(keccak256(content));
    if (known === undefined) this.#known.set(key, hash);
    return { sha256: found, keccak256: hash };
  }

  /** The keccak256 of a text whose sha256 is known: hex digits without `0x`. */
  keccakOf(sha256: string, content: Uint8Array | string): Hex {
    const known = this.#known.get(sha256);
    if (known !== undefined) return known;
    return this.keccak256(typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
  }
}
