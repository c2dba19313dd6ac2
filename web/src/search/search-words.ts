import { foldText } from '../../../src/lib/fold-text.ts';
import { kindOfWords, MAX_WORDS } from '../contracts/contract-query.ts';

/** A chain that was found. */
export interface FoundChain {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
  readonly supported: boolean;
}

/** The chains that fit the words, the likeliest first, and how many there are. */
export interface FoundChains {
  readonly results: readonly FoundChain[];
  readonly matching: number;
}

/** The words that the query of a URL searches for. */
export function wordsOf(query: string): string {
  return (new URLSearchParams(query).get('q') ?? '').trim().slice(0, MAX_WORDS);
}

/** Where the chains that fit some words are listed, below the root of the API host. */
export function chainsPath(words: string, limit: number): string {
  const query = { order: 'relevance', fields: 'name,shortName,supported', limit: String(limit) };
  return `v1/chains?${new URLSearchParams({ ...query, q: words }).toString()}`;
}

/** Whether words may name a chain: an address, its beginning and a hash name none. */
export function mayNameChain(words: string): boolean {
  return ['name', 'malformed'].includes(kindOfWords(words));
}

/** Whether each word begins one of the chain's names or its id, and does not only stand somewhere, as in its currency. */
export function isCalled({ chainId, name, shortName = '' }: FoundChain, words: string): boolean {
  const parts = foldText(`${chainId} eip155:${chainId} ${shortName} ${name}`).split(/\s+/);
  return foldText(words)
    .split(/\s+/)
    .every((word) => parts.some((part) => part.startsWith(word)));
}
