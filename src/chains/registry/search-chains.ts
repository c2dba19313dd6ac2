import { foldText } from '../../lib/fold-text.ts';
import { type ChainRecord } from './chain-record.ts';
import { type RegisteredChain } from './registered-chain.ts';

/** Which chains to find. An absent field excludes none. */
export interface ChainFilter {
  readonly supported?: boolean;
  readonly monitored?: boolean;
  readonly testnet?: boolean;
  /** `active`, `incubating` or `deprecated`, in any case. A chain that states no status counts as active. */
  readonly status?: string;
  /** Words with white space between them: each has to occur somewhere in what a chain calls itself. */
  readonly words?: string;
}

/** A part of the chains that were found. */
export interface ChainPage {
  /** Ascending chainId. */
  readonly chains: readonly RegisteredChain[];
  /** How many chains fit the filter, on all pages. */
  readonly matching: number;
  /** The id after which the next page begins; absent on the last page. */
  readonly next?: number;
}

/** The public list's word for a chain in use; most records leave it out. */
const STATUS_UNLESS_STATED = 'active';
/** An id that is written out is meant whole: `0x1` is not the beginning of `0x10`. */
const SPELLED_ID = /^(?:0x[0-9a-f]+|eip155:[0-9]+)$/;

/** What is read of a chain once: folding a name takes longer than all else that a search does with it. */
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

/** What a chain is called, a line each, so that no word is found across two of them. */
const namesOf = onceForEach(foldNames);

function foldNames({ record }: RegisteredChain): string {
  const { chainId, name, shortName, chain, title, nativeCurrency } = record;
  const { symbol, name: currency } = nativeCurrency ?? {};
  const names = [name, shortName, chain, title, symbol, currency];
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

/** Whether a chain fits, as a function that is made once for all chains. */
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
 * The chains that fit a filter, a page of them in the order of the registry, ascending chainId. A rank would shift
 * between two pages; an id does not, so a page goes on where the one before ended whatever changed meanwhile. Pure.
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

/** The names that a chain has for itself. Its currency and its ecosystem are those of many. */
const ownNamesOf = onceForEach(({ record }): readonly string[] => {
  const { chainId, name, shortName = '' } = record;
  return [String(chainId), name, shortName].map(foldText);
});

/**
 * The chains that fit a filter, those first that its words mean: whose id or one of whose own names they are whole, then
 * supported ones, then those whose own name begins with the words, as words before as parts of one. Equal ones ascend by chainId.
 * Pure.
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
  // They ascend by chainId already, so that each rank does.
  const byRank: RegisteredChain[][] = [];
  for (const chain of found) (byRank[rankOf(chain)] ??= []).push(chain);
  return { chains: byRank.flat().slice(0, limit), matching: found.length };
}

/** A record with the fields that were chosen, its id among them. */
export function pickFields(
  record: ChainRecord,
  chosen: ReadonlySet<string>,
): Partial<ChainRecord> & Pick<ChainRecord, 'chainId'> {
  const entries = Object.entries(record).filter(([field]) => chosen.has(field));
  return Object.fromEntries(entries) as Partial<ChainRecord> & Pick<ChainRecord, 'chainId'>;
}
