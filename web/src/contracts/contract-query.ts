/** Filters of the list, with their URL values and labels. */
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

/** State of the contract list, all of which is in the URL. Empty fields exclude nothing. */
export interface ContractQuery extends Readonly<Record<FilterName, string>> {
  /** Search text: an address or its beginning, a name, or a bytecode hash. */
  readonly words: string;
  /** The chain as typed: `1`, `eip155:1`, `eth`. */
  readonly chain: string;
  /** The `next` of the previous page. */
  readonly after: string;
}

/** The complete list, newest first. */
export const NO_QUERY: ContractQuery = {
  words: '',
  chain: '',
  match: '',
  origin: '',
  trust: '',
  after: '',
};

/** Names and chain references are not longer. */
export const MAX_WORDS = 100;
const MAX_CURSOR = 300;

/** Parses the query of a URL. Unknown filters are ignored. */
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

/** Path of the list relative to the root of the API host, with the shortest query for {@link parseContractQuery}. */
export function formatContractPath({ words, ...rest }: ContractQuery): string {
  const set = Object.entries({ q: words, ...rest }).filter(([, value]) => value !== '');
  return set.length === 0 ? 'contracts' : `contracts?${new URLSearchParams(set).toString()}`;
}

/** Kind of the search text. `malformed` begins like an address but is not one. */
export type WordsKind = 'none' | 'address' | 'prefix' | 'hash' | 'name' | 'malformed';

/** Classifies the search text. An address counts as a prefix from its first 4 digits on. */
export function kindOfWords(words: string): WordsKind {
  if (words === '') return 'none';
  if (!/^0x/i.test(words)) return 'name';
  const digits = words.slice(2);
  if (!/^[0-9a-f]*$/i.test(digits)) return 'malformed';
  if (digits.length === 64) return 'hash';
  if (digits.length === 40) return 'address';
  return digits.length >= 4 && digits.length < 40 ? 'prefix' : 'malformed';
}
