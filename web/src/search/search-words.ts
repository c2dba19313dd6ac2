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

/** Signatures are longer than all other texts. */
export const MAX_SEARCH = 400;

const JOB_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SELECTOR = /^0x[0-9a-f]{8}$/i;
const TOPIC = /^0x[0-9a-f]{64}$/i;
const SIGNATURE = /^(?:(?:function|event|error)\s+)?[a-z_$][\w$]*\s*\([^;{}]*\)[\w\s(),.]*;?$/i;

/** Search text in the query of a URL. */
export function wordsOf(query: string): string {
  return cutWords(new URLSearchParams(query).get('q') ?? '');
}

/** Search text as typed, cut to the length that is searched. */
export function cutWords(text: string): string {
  const words = text.trim().slice(0, MAX_SEARCH);
  return mayBeSignature(words) ? words : words.slice(0, MAX_WORDS);
}

/** Whether the text has the format of a job id. */
export const isJobId = (words: string): boolean => JOB_ID.test(words);

/** Whether the text is a selector of a function or an error. */
export const isSelector = (words: string): boolean => SELECTOR.test(words);

/** Whether the text may be the topic of an event; transactions and bytecodes have hashes of the same length. */
export const isTopic = (words: string): boolean => TOPIC.test(words);

/** Whether the text may be a signature, such as `transfer(address,uint256)`. */
export const mayBeSignature = (words: string): boolean => SIGNATURE.test(words);

/** Path of the list of matching chains, relative to the root of the API host. */
export function chainsPath(words: string, limit: number): string {
  const query = { order: 'relevance', fields: 'name,shortName,supported', limit: String(limit) };
  return `v1/chains?${new URLSearchParams({ ...query, q: words }).toString()}`;
}

/** Whether the text may refer to a chain: an address, its beginning, a hash, a job id and a signature cannot. */
export function mayNameChain(words: string): boolean {
  return mayNameAnything(words) && ['name', 'malformed'].includes(kindOfWords(words));
}

/** Whether the text may refer to a contract. */
export function mayNameContract(words: string): boolean {
  return mayNameAnything(words) && !['none', 'malformed'].includes(kindOfWords(words));
}

const mayNameAnything = (words: string): boolean => !isJobId(words) && !mayBeSignature(words);

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

/** Whether the text is the complete name, short name or id of a chain. */
export function isExactChain(chain: FoundChain, words: string): boolean {
  const { chainId, name, shortName = '' } = chain;
  const texts = [String(chainId), `eip155:${chainId}`, foldText(name), foldText(shortName)];
  return texts.includes(foldText(words));
}
