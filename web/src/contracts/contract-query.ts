/** What the list can be narrowed by, with the values that a URL has and their names. */
export const FILTERS = {
  match: { label: 'Match', options: { full: 'full', partial: 'partial' } },
  origin: {
    label: 'Origin',
    options: { verified: 'verified here', imported: 'imported', monitored: 'found by the monitor' },
  },
  trust: {
    label: 'Checked here',
    options: {
      rechecked: 'bytecode or more',
      recompiled: 'compilation or more',
      verified: 'against the chain',
    },
  },
} as const;

export type FilterName = keyof typeof FILTERS;

/** What the list of contracts shows: all of it stands in the URL. What is empty rules nothing out. */
export interface ContractQuery extends Readonly<Record<FilterName, string>> {
  /** What was typed: an address or its beginning, a name, or the hash of a code. */
  readonly words: string;
  /** The chain as it was typed: `1`, `eip155:1`, `eth`. */
  readonly chain: string;
  /** The `next` of the page before. */
  readonly after: string;
}

/** The whole list from its newest contract on. */
export const NO_QUERY: ContractQuery = {
  words: '',
  chain: '',
  match: '',
  origin: '',
  trust: '',
  after: '',
};

/** Neither a name nor a reference to a chain is longer. */
export const MAX_WORDS = 100;
const MAX_CURSOR = 300;

/** Reads the query of a URL. A filter that it does not understand is as if it were not there. */
export function parseContractQuery(query: string): ContractQuery {
  const given = new URLSearchParams(query);
  const textOf = (name: string, length: number): string =>
    (given.get(name) ?? '').trim().slice(0, length);
  const choiceOf = (name: FilterName): string => {
    const value = given.get(name) ?? '';
    return Object.hasOwn(FILTERS[name].options, value) ? value : '';
  };
  return {
    words: textOf('q', MAX_WORDS),
    chain: textOf('chain', MAX_WORDS),
    match: choiceOf('match'),
    origin: choiceOf('origin'),
    trust: choiceOf('trust'),
    after: textOf('after', MAX_CURSOR),
  };
}

/** The path of the list below the root of the API host, in the shortest query that {@link parseContractQuery} reads back. */
export function formatContractPath({ words, ...rest }: ContractQuery): string {
  const set = Object.entries({ q: words, ...rest }).filter(([, value]) => value !== '');
  return set.length === 0 ? 'contracts' : `contracts?${new URLSearchParams(set).toString()}`;
}

/** What the typed words look like. `malformed` begins like an address but is not one. */
export type WordsKind = 'none' | 'address' | 'prefix' | 'hash' | 'name' | 'malformed';

/** The kind of the words. An address counts as a prefix from its first 4 bytes on. */
export function kindOfWords(words: string): WordsKind {
  if (words === '') return 'none';
  if (!/^0x/i.test(words)) return 'name';
  const digits = words.slice(2);
  if (!/^[0-9a-f]*$/i.test(digits)) return 'malformed';
  if (digits.length === 64) return 'hash';
  if (digits.length === 40) return 'address';
  return digits.length >= 8 && digits.length < 40 ? 'prefix' : 'malformed';
}
