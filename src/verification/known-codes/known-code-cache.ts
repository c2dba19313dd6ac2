import { LRUCache } from 'lru-cache';
import { countedCache } from '../../lib/counted-cache.ts';
import { type Compilation, type KnownCandidate } from '../../repository/repository.ts';
import { type KnownCompilation } from './known-compilation.ts';

/** Capacity of the cache, in bytes and in entries. */
const COMPILATION_BYTES = 96 * 2 ** 20;
const CODES = 20_000;
/** Short, since a better candidate may be stored at any time. */
const FOUND_MS = 60_000;
const UNKNOWN_MS = 1_000;
/** Overhead per entry in addition to the measured size. */
const ENTRY_BYTES = 2_048;

/** The candidate that matched a bytecode, or none. */
type Remembered = { readonly candidate: KnownCandidate | undefined };

/**
 * If another contract of a compilation was compiled in this process, that compilation is cached under the
 * candidate's name. The compilation of a partial match may have fewer settings than a full match proves, so
 * it is not used for candidates with the same metadata.
 */
const keyOf = ({ compilationId, fullyQualifiedName, ...candidate }: KnownCandidate): string =>
  `${compilationId} ${candidate.isCompiled || candidate.hasSameMetadata} ${fullyQualifiedName}`;

/**
 * Cache of known bytecode: compilations used for matching, and the candidate that matched a bytecode. It
 * holds no verdicts: each deployment is judged separately, with its own address and values.
 */
export class KnownCodeCache {
  readonly #compilations = new LRUCache<string, KnownCompilation>({
    maxSize: COMPILATION_BYTES,
    sizeCalculation: ({ compilation }) => weigh(compilation),
  });
  readonly #codes = countedCache<Remembered>(CODES, FOUND_MS);

  compilationOf(candidate: KnownCandidate): KnownCompilation | undefined {
    return this.#compilations.get(keyOf(candidate));
  }

  keepCompilation(candidate: KnownCandidate, known: KnownCompilation): void {
    this.#compilations.set(keyOf(candidate), known);
  }

  /** Returns the candidate that recently matched a bytecode; null if none did; undefined if unknown. */
  candidateOf(codeHash: string): KnownCandidate | null | undefined {
    const remembered = this.#codes.get(codeHash);
    return remembered && (remembered.candidate ?? null);
  }

  keepCandidate(codeHash: string, candidate: KnownCandidate | undefined): void {
    this.#codes.set(codeHash, { candidate }, candidate === undefined ? { ttl: UNKNOWN_MS } : {});
  }
}

function weigh(compilation: Compilation): number {
  const { creationCode, runtimeCode, metadata, sources, artifacts } = compilation;
  // Each bytecode is held as bytes and as hex, and a string takes up to two bytes per character.
  const codes = 3 * ((creationCode?.length ?? 0) + (runtimeCode?.length ?? 0));
  const texts = sources.reduce((sum, { content }) => sum + content.length, metadata?.length ?? 0);
  return ENTRY_BYTES + codes + 2 * texts + 4 * JSON.stringify(artifacts).length;
}
