import { foldText } from '../../../src/lib/fold-text.ts';
import { type RegistryLine, type StatisticsOverview } from '../answers.ts';
import {
  type ChainQuery,
  type ChainRow,
  type Facet,
  FACET_NAMES,
  FACETS,
  type FacetName,
  type SortKey,
} from './chain-query.ts';

/** Rows of a page of the table. */
export const PAGE_ROWS = 50;

/** A row with the texts that are searched, folded once for all key strokes. */
interface IndexedRow {
  readonly row: ChainRow;
  /** All that is searched, a line each. */
  readonly text: string;
  readonly name: string;
  readonly short: string;
}

/** All rows, prepared for {@link filterChains}. */
export type ChainIndex = readonly IndexedRow[];

/** How many rows there would be with each value of each facet, the rest of the query as it is. */
export type FacetCounts = Readonly<Record<FacetName, Readonly<Record<string, number>>>>;

/** What a query finds. */
export interface FoundChains {
  /** In the order of the query, all pages. */
  readonly rows: readonly ChainRow[];
  readonly facets: FacetCounts;
}

/** Joins the lines of the registry with the counts of the statistics, where those could be read. */
export function joinChains(
  lines: readonly RegistryLine[],
  counts: StatisticsOverview['chains'] | undefined,
): readonly ChainRow[] {
  if (counts === undefined) return lines;
  const byId = new Map(counts.map((each) => [each.chainId, each]));
  return lines.map((line) => {
    const { full = 0, partial = 0, lastVerifiedAt = null } = byId.get(line.chainId) ?? {};
    return { ...line, full, partial, lastVerifiedAt };
  });
}

/** Prepares rows for {@link filterChains}. */
export function indexChains(rows: readonly ChainRow[]): ChainIndex {
  return rows.map((row) => {
    const { chainId, name, shortName = '', currency = '', currencyName = '' } = row;
    const id = `${chainId}\n0x${chainId.toString(16)}\neip155:${chainId}`;
    return {
      row,
      text: foldText([id, name, shortName, currency, currencyName].join('\n')),
      name: foldText(name),
      short: foldText(shortName),
    };
  });
}

/** What a query finds, on all pages: on the server for the first rendering, and in the browser at each key stroke. */
export function filterChains(index: ChainIndex, query: ChainQuery): FoundChains {
  const words = foldText(query.words).split(/\s+/).filter(Boolean);
  const counts: Record<string, Record<string, number>> = {};
  for (const name of FACET_NAMES) counts[name] = {};
  const found: IndexedRow[] = [];
  for (const each of index) {
    if (!words.every((word) => hasWord(each, word))) continue;
    const misses = FACET_NAMES.filter((name) => {
      const wanted = query.facets[name];
      return wanted !== undefined && FACETS[name].valueOf(each.row) !== wanted;
    });
    if (misses.length === 0) found.push(each);
    for (const name of FACET_NAMES) {
      // A row counts for a facet where no other facet rules it out.
      if (misses.some((miss) => miss !== name)) continue;
      const value = FACETS[name].valueOf(each.row);
      const ofFacet = counts[name] ?? {};
      ofFacet[value] = (ofFacet[value] ?? 0) + 1;
    }
  }
  const compare =
    query.sort === 'relevance' ? byRelevance(words.join(' ')) : COMPARISONS[query.sort];
  const sign = query.descending ? -1 : 1;
  found.sort((left, right) => sign * compare(left, right) || left.row.chainId - right.row.chainId);
  return { rows: found.map(({ row }) => row), facets: counts as FacetCounts };
}

/** A filter: a facet and one of its values, such as `supported=yes`. */
export type ChainFilter = `${FacetName}=${string}`;

/** The filters that narrow this table. A value that no chain has, or that all have, narrows nothing. */
export function findFilters(index: ChainIndex): readonly ChainFilter[] {
  return FACET_NAMES.flatMap((name) => {
    const facet: Facet = FACETS[name];
    const present = new Set(index.map(({ row }) => facet.valueOf(row)));
    if (present.size < 2) return [];
    return facet.options
      .filter(([value]) => present.has(value) && facet.hidden?.includes(value) !== true)
      .map(([value]): ChainFilter => `${name}=${value}`);
  });
}

/** An id that is written out as `0x1` or `eip155:1` is meant whole; everything else may be a part of a name. */
function hasWord({ text, row }: IndexedRow, word: string): boolean {
  if (/^(?:0x[0-9a-f]+|eip155:\d+)$/.test(word)) {
    return word === `0x${row.chainId.toString(16)}` || word === `eip155:${row.chainId}`;
  }
  return text.includes(word);
}

const compareText = (left: string, right: string): number =>
  left === right ? 0 : left < right ? -1 : 1;
const shareOf = ({ full = 0, partial = 0 }: ChainRow): number =>
  full + partial === 0 ? -1 : full / (full + partial);
const compareCounts = (left = 0, right = 0): number => left - right;
const HEALTH_ORDER = [undefined, 'unknown', 'down', 'degraded', 'up'] as const;

type Comparison = (left: IndexedRow, right: IndexedRow) => number;

/** What the words name whole comes first, then supported chains, then those that are called so, then those with most contracts. */
function byRelevance(words: string): Comparison {
  const ranksOf = ({ row, name, short }: IndexedRow): readonly number[] => [
    Number(words !== '' && [name, short, String(row.chainId)].includes(words)),
    Number(row.supported),
    Number(words !== '' && name.startsWith(words)),
    (row.full ?? 0) + (row.partial ?? 0),
  ];
  return (left, right) => {
    const [ours, theirs] = [ranksOf(left), ranksOf(right)];
    const at = ours.findIndex((rank, index) => rank !== theirs[index]);
    return at === -1 ? 0 : (theirs[at] ?? 0) - (ours[at] ?? 0);
  };
}

const COMPARISONS: Readonly<Record<Exclude<SortKey, 'relevance'>, Comparison>> = {
  name: (left, right) => compareText(left.name, right.name),
  id: (left, right) => left.row.chainId - right.row.chainId,
  // Chains without a short name come last, not first.
  short: (left, right) =>
    Number(left.short === '') - Number(right.short === '') || compareText(left.short, right.short),
  full: (left, right) => compareCounts(left.row.full, right.row.full),
  partial: (left, right) => compareCounts(left.row.partial, right.row.partial),
  share: (left, right) => shareOf(left.row) - shareOf(right.row),
  last: (left, right) => compareText(left.row.lastVerifiedAt ?? '', right.row.lastVerifiedAt ?? ''),
  health: (left, right) =>
    HEALTH_ORDER.indexOf(left.row.health) - HEALTH_ORDER.indexOf(right.row.health),
};

/** The found rows of one page. A page past the end gives the last one. */
export function pageOf(
  rows: readonly ChainRow[],
  page: number,
): { readonly rows: readonly ChainRow[]; readonly page: number; readonly pages: number } {
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const shown = Math.min(page, pages);
  return { rows: rows.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages };
}
