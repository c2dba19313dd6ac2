import { foldText } from '../../../src/lib/fold-text.ts';
import { kindOfWords, MAX_WORDS } from '../contracts/contract-query.ts';

/** A chain that was found. */
export interface FoundChain {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
  readonly supported: boolean;
}

/** Matching chains, most likely first, and their number. */
export interface FoundChains {
  readonly results: readonly FoundChain[];
  readonly matching: number;
}

/** Search text in the query of a URL. */
export function wordsOf(query: string): string {
  return (new URLSearchParams(query).get('q') ?? '').trim().slice(0, MAX_WORDS);
}

/** Path of the list of matching chains, relative to the root of the API host. */
export function chainsPath(words: string, limit: number): string {
  const query = { order: 'relevance', fields: 'name,shortName,supported', limit: String(limit) };
  return `v1/chains?${new URLSearchParams({ ...query, q: words }).toString()}`;
}

/** Whether the text may refer to a chain: an address, its beginning and a hash cannot. */
export function mayNameChain(words: string): boolean {
  return ['name', 'malformed'].includes(kindOfWords(words));
}

/**
 * Whether each word is a prefix of one of the chain's names or its id, instead of occurring elsewhere, such
 * as in its currency.
 */
export function matchesName({ chainId, name, shortName = '' }: FoundChain, words: string): boolean {
  const parts = foldText(`${chainId} eip155:${chainId} ${shortName} ${name}`).split(/\s+/);
  return foldText(words)
    .split(/\s+/)
    .every((word) => parts.some((part) => part.startsWith(word)));
}
