import { foldText } from '../../lib/fold-text.ts';
import { formerNamesOf } from '../../lib/former-chain-names.ts';
import { type ChainRecord } from './chain-record.ts';
import { type RegisteredChain } from './registered-chain.ts';

/** Filter for chains. Absent fields exclude nothing. */
export interface ChainFilter {
  readonly supported?: boolean;
  readonly monitored?: boolean;
  readonly testnet?: boolean;
  /** `active`, `incubating` or `deprecated`, in any case. A chain without a status counts as active. */
  readonly status?: string;
  /** Words separated by white space: each must occur in one of the chain's names. */
  readonly words?: string;
}

/** A page of the chains that were found. */
export interface ChainPage {
  /** Ascending chainId. */
  readonly chains: readonly RegisteredChain[];
  /** Number of matching chains on all pages. */
  readonly matching: number;
  /** The id after which the next page begins; absent on the last page. */
  readonly next?: number;
}

/** The public list's value for a chain in use; most records omit it. */
const STATUS_UNLESS_STATED = 'active';
/** A complete id is matched exactly: `0x1` is not a prefix of `0x10`. */
const SPELLED_ID = /^(?:0x[0-9a-f]+|eip155:[0-9]+)$/;

/** Search data of a chain, computed once: folding a name takes longer than the rest of a search. */
function onceForEach<Value>(
  read: (chain: RegisteredChain) => Value,
): (chain: RegisteredChain) => Value {
  const known = new WeakMap<RegisteredChain, Value>();
  return (chain) => {
    const value = known.get(chain) ?? read(chain);
    known.set(chain, value);
    return value;
  };
}

/** The names of a chain, one per line, so that no word spans two of them. */
const namesOf = onceForEach(foldNames);

function foldNames({ record }: RegisteredChain): string {
  const { chainId, name, shortName, chain, title, nativeCurrency } = record;
  const { symbol, name: currency } = nativeCurrency ?? {};
  const names = [name, shortName, chain, title, symbol, currency, ...formerNamesOf(chainId)];
  return foldText([chainId, ...names.filter((each) => each !== undefined)].join('\n'));
}

function spells(word: string, chainId: number): boolean {
  return word === `0x${chainId.toString(16)}` || word === `eip155:${chainId}`;
}

function makeWordTest(text: string): (chain: RegisteredChain) => boolean {
  const words = [...new Set(foldText(text).split(/\s+/))].filter((word) => word !== '');
  if (words.length === 0) return () => true;
  return (chain) => {
    const names = namesOf(chain);
    return words.every(
      (word) =>
        names.includes(word) || (SPELLED_ID.test(word) && spells(word, chain.record.chainId)),
    );
  };
}

/** Builds a predicate for a filter once for all chains. */
function makeTest(filter: ChainFilter): (chain: RegisteredChain) => boolean {
  const { supported, monitored, testnet, status, words = '' } = filter;
  const wantedStatus = status?.toLowerCase();
  const hasWords = makeWordTest(words);
  return (chain) =>
    (supported === undefined || chain.record.supported === supported) &&
    (monitored === undefined || chain.record.monitored === monitored) &&
    (testnet === undefined || chain.testnet === testnet) &&
    (wantedStatus === undefined ||
      (chain.record.status ?? STATUS_UNLESS_STATED).toLowerCase() === wantedStatus) &&
    hasWords(chain);
}

/**
 * Returns a page of the chains that match a filter, by ascending chainId. Pages by rank would shift when
 * chains change; ids do not, so a page continues where the previous one ended. Pure.
 */
export function searchChains(
  chains: readonly RegisteredChain[],
  filter: ChainFilter,
  page: { readonly after?: number; readonly limit: number },
): ChainPage {
  const found = chains.filter(makeTest(filter));
  const { after = 0, limit } = page;
  const start = found.findIndex(({ record }) => record.chainId > after);
  const rest = start === -1 ? [] : found.slice(start);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  return {
    chains: shown,
    matching: found.length,
    ...(rest.length > limit && last !== undefined && { next: last.record.chainId }),
  };
}

/** The names of the chain itself. Its currency and ecosystem are shared by many. */
const ownNamesOf = onceForEach(({ record }): readonly string[] => {
  const { chainId, name, shortName = '' } = record;
  return [String(chainId), name, shortName, ...formerNamesOf(chainId)].map(foldText);
});

/**
 * Returns the matching chains by relevance: those whose id or one of whose names equals the words, then
 * supported ones, then those with a name that starts with the words, as whole words before parts of one. Ties
 * ascend by chainId. Pure.
 */
export function rankChains(
  chains: readonly RegisteredChain[],
  filter: ChainFilter,
  limit: number,
): Pick<ChainPage, 'chains' | 'matching'> {
  const found = chains.filter(makeTest(filter));
  const wanted = foldText((filter.words ?? '').trim());
  const rankOf = (chain: RegisteredChain): number => {
    const { chainId, supported } = chain.record;
    const names = ownNamesOf(chain);
    if (names.includes(wanted) || spells(wanted, chainId)) return supported ? 0 : 1;
    const begins = (text: string): boolean => names.some((name) => name.startsWith(text));
    const part = begins(wanted) ? 1 : 2;
    return (supported ? 2 : 5) + (begins(`${wanted} `) ? 0 : part);
  };
  // The input ascends by chainId, so each rank does too.
  const byRank: RegisteredChain[][] = [];
  for (const chain of found) (byRank[rankOf(chain)] ??= []).push(chain);
  return { chains: byRank.flat().slice(0, limit), matching: found.length };
}

/** A record with the selected fields, including its id. */
export function pickFields(
  record: ChainRecord,
  chosen: ReadonlySet<string>,
): Partial<ChainRecord> & Pick<ChainRecord, 'chainId'> {
  const entries = Object.entries(record).filter(([field]) => chosen.has(field));
  return Object.fromEntries(entries) as Partial<ChainRecord> & Pick<ChainRecord, 'chainId'>;
}
