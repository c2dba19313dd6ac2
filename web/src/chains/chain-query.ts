import { type RegistryLine } from '../answers.ts';

/** A row of the chains table. The counts are absent if they could not be read. */
export interface ChainRow extends RegistryLine {
  /** Verified here. */
  readonly full?: number;
  readonly partial?: number;
  /** Claims of other services, which are in neither of the two. */
  readonly claimed?: number;
  readonly lastVerifiedAt?: string | null;
}

/** A filterable property of chains. */
export interface Facet {
  /** Values as in the URL, each with the text of its chip. */
  readonly options: readonly (readonly [value: string, text: string])[];
  /** Values whose chip is shown only while active, because few people need them. */
  readonly hidden?: readonly string[];
  readonly valueOf: (row: ChainRow) => string;
}

const flag = (value: boolean): string => (value ? 'yes' : 'no');

/** Filters of the table. */
export const FACETS = {
  supported: {
    options: [
      ['yes', 'Supported'],
      ['no', 'Not supported'],
    ],
    hidden: ['no'],
    valueOf: (row) => flag(row.supported),
  },
  contracts: {
    options: [
      ['yes', 'With contracts'],
      ['no', 'Without contracts'],
    ],
    hidden: ['no'],
    valueOf: ({ full, partial, claimed = 0 }) =>
      full === undefined || partial === undefined ? 'unknown' : flag(full + partial + claimed > 0),
  },
  monitored: {
    options: [
      ['yes', 'Monitored'],
      ['no', 'Not monitored'],
    ],
    hidden: ['no'],
    valueOf: (row) => flag(row.monitored),
  },
  network: {
    options: [
      ['mainnet', 'Mainnets'],
      ['testnet', 'Testnets'],
    ],
    valueOf: (row) => (row.testnet ? 'testnet' : 'mainnet'),
  },
  status: {
    options: [
      ['active', 'Active'],
      ['incubating', 'Incubating'],
      ['deprecated', 'Deprecated'],
    ],
    hidden: ['active', 'incubating'],
    valueOf: (row) => (row.status ?? 'active').toLowerCase(),
  },
  health: {
    options: [
      ['up', 'RPC up'],
      ['degraded', 'RPC degraded'],
      ['down', 'RPC down'],
      ['unknown', 'RPC not known yet'],
      ['none', 'RPC not probed'],
    ],
    hidden: ['unknown', 'none'],
    valueOf: (row) => row.health ?? 'none',
  },
  warnings: {
    options: [
      ['yes', 'With warnings'],
      ['no', 'Without warnings'],
    ],
    hidden: ['no'],
    valueOf: (row) => flag(row.warnings.length > 0),
  },
} as const satisfies Readonly<Record<string, Facet>>;

export type FacetName = keyof typeof FACETS;

/** The names of {@link FACETS}, in order. */
export const FACET_NAMES = Object.keys(FACETS) as readonly FacetName[];

/** Sort keys: the table's columns, and `relevance`, which is not a column. */
export const SORT_KEYS = [
  'relevance',
  'name',
  'id',
  'short',
  'full',
  'partial',
  'claimed',
  'share',
  'last',
  'health',
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** State of the chains table, all of which is in the URL. */
export interface ChainQuery {
  /** Search text. */
  readonly words: string;
  /** Active filter values; an absent facet excludes nothing. */
  readonly facets: Readonly<Partial<Record<FacetName, string>>>;
  readonly sort: SortKey;
  readonly descending: boolean;
  /** Page number from 1. */
  readonly page: number;
}

/** The default sorts exact matches first, then supported chains, then those with the most contracts. */
export const NO_QUERY: ChainQuery = {
  words: '',
  facets: {},
  sort: 'relevance',
  descending: false,
  page: 1,
};

/** No name is longer, so longer text matches nothing. */
const MAX_WORDS = 100;
const MAX_PAGE = 1_000_000;

/** Parses the query of a URL. Unknown parameters are ignored. */
export function parseChainQuery(query: string): ChainQuery {
  const given = new URLSearchParams(query);
  const facets: Partial<Record<FacetName, string>> = {};
  for (const name of FACET_NAMES) {
    const value = given.get(name);
    if (FACETS[name].options.some(([option]) => option === value)) facets[name] = value ?? '';
  }
  const sort = given.get('sort') ?? '';
  const key = SORT_KEYS.find((each) => each === sort.replace(/^-/, ''));
  const page = Number(given.get('page'));
  return {
    words: (given.get('q') ?? '').slice(0, MAX_WORDS),
    facets,
    sort: key ?? NO_QUERY.sort,
    descending: key === undefined ? NO_QUERY.descending : sort.startsWith('-'),
    page: Number.isInteger(page) && page >= 1 && page <= MAX_PAGE ? page : 1,
  };
}

/** Serialises a query for {@link parseChainQuery}, without default values. */
export function formatChainQuery({ words, facets, sort, descending, page }: ChainQuery): string {
  const query = new URLSearchParams();
  if (words !== '') query.set('q', words);
  for (const name of FACET_NAMES) {
    const value = facets[name];
    if (value !== undefined) query.set(name, value);
  }
  if (sort !== NO_QUERY.sort || descending !== NO_QUERY.descending) {
    query.set('sort', `${descending ? '-' : ''}${sort}`);
  }
  if (page !== 1) query.set('page', String(page));
  return query.toString();
}
