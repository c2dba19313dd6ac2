import { LRUCache } from 'lru-cache';
import { type Compilation, type KnownCandidate } from '../../repository/repository.ts';
import { type KnownCompilation } from './known-compilation.ts';

/** What is remembered, in bytes and numbers. */
const COMPILATION_BYTES = 96 * 2 ** 20;
const CODES = 20_000;
/** A better candidate may be stored any time. */
const FOUND_MS = 60_000;
const UNKNOWN_MS = 1_000;
/** What an entry costs beside what is counted of it. */
const ENTRY_BYTES = 2_048;

/** Which candidate gave a code, or that none did. */
type Remembered = { readonly candidate: KnownCandidate | undefined };

/**
 * Where a sibling was compiled in this process, its compilation stands under the name of the candidate. That of a partial
 * match may have fewer settings than a full match proves, so it does not stand for candidates with the same metadata.
 */
const keyOf = ({ compilationId, fullyQualifiedName, ...candidate }: KnownCandidate): string =>
  `${compilationId} ${candidate.isCompiled || candidate.hasSameMetadata} ${fullyQualifiedName}`;

/**
 * What a process remembers of known codes: compilations by which it judged, and which candidate gave a
 * code. Nothing in it is a verdict: each deployment is judged by itself, with its own address and values.
 */
export class KnownCodeCache {
  readonly #compilations = new LRUCache<string, KnownCompilation>({
    maxSize: COMPILATION_BYTES,
    sizeCalculation: ({ compilation }) => weigh(compilation),
  });
  readonly #codes = new LRUCache<string, Remembered>({ max: CODES, ttl: FOUND_MS });

  compilationOf(candidate: KnownCandidate): KnownCompilation | undefined {
    return this.#compilations.get(keyOf(candidate));
  }

  keepCompilation(candidate: KnownCandidate, known: KnownCompilation): void {
    this.#compilations.set(keyOf(candidate), known);
  }

  /** The candidate that gave a code a moment ago; null where none did; undefined where that is not known. */
  candidateOf(codeHash: string): KnownCandidate | null | undefined {
    const remembered = this.#codes.get(codeHash);
    return remembered && (remembered.candidate ?? null);
  }

  keepCandidate(codeHash: string, candidate: KnownCandidate | undefined): void {
    this.#codes.set(codeHash, { candidate }, candidate === undefined ? { ttl: UNKNOWN_MS } : {});
  }

  /** The compilers with their latest answers at hand: many deployments may ask for one contract before it is stored. */
}

function weigh(compilation: Compilation): number {
  const { creationCode, runtimeCode, metadata, sources, artifacts } = compilation;
  // Each code stands there as bytes and as hex, and a text takes up to two bytes for each of its letters.
  const codes = 3 * ((creationCode?.length ?? 0) + (runtimeCode?.length ?? 0));
  const texts = sources.reduce((sum, { content }) => sum + content.length, metadata?.length ?? 0);
  return ENTRY_BYTES + codes + 2 * texts + 4 * JSON.stringify(artifacts).length;
}
