import { foldText } from '../../../src/lib/fold-text.ts';
import { formerNamesOf } from '../../../src/lib/former-chain-names.ts';
import { type RegistryLine, type StatisticsOverview } from '../answers.ts';
import { takeApart } from '../counts-apart.ts';
import {
  type ChainQuery,
  type ChainRow,
  type Facet,
  FACET_NAMES,
  FACETS,
  type FacetName,
  type SortKey,
} from './chain-query.ts';

/** Rows per page of the table. */
export const PAGE_ROWS = 50;

/** A row with its search texts, folded once for all keystrokes. */
interface IndexedRow {
  readonly row: ChainRow;
  /** All searched text, one value per line. */
  readonly text: string;
  readonly name: string;
  readonly short: string;
}

/** All rows, prepared for {@link filterChains}. */
export type ChainIndex = readonly IndexedRow[];

/** Number of rows for each value of each facet, with the rest of the query unchanged. */
export type FacetCounts = Readonly<Record<FacetName, Readonly<Record<string, number>>>>;

/** Result of a query. */
export interface FoundChains {
  /** All pages, in the order of the query. */
  readonly rows: readonly ChainRow[];
  readonly facets: FacetCounts;
}

/** Joins the registry's rows with the counts of the statistics, if those could be read; claims are apart. */
export function joinChains(
  lines: readonly RegistryLine[],
  counts: StatisticsOverview['chains'] | undefined,
): readonly ChainRow[] {
  if (counts === undefined) return lines;
  const byId = new Map(counts.map((each) => [each.chainId, takeApart(each)]));
  return lines.map((line) => {
    const known = byId.get(line.chainId);
    const { full = 0, partial = 0, claimed = 0, lastVerifiedAt = null } = known ?? {};
    // If there are only claims, the time is that of an import.
    const isClaimed = claimed > 0 && full + partial === 0;
    return { ...line, full, partial, claimed, lastVerifiedAt: isClaimed ? null : lastVerifiedAt };
  });
}

/** Prepares rows for {@link filterChains}. */
export function indexChains(rows: readonly ChainRow[]): ChainIndex {
  return rows.map((row) => {
    const { chainId, name, shortName = '', currency = '', currencyName = '' } = row;
    const id = `${chainId}\n0x${chainId.toString(16)}\neip155:${chainId}`;
    return {
      row,
      text: foldText(
        [id, name, shortName, currency, currencyName, ...formerNamesOf(chainId)].join('\n'),
      ),
      name: foldText(name),
      short: foldText(shortName),
    };
  });
}

/**
 * Returns the result of a query on all pages: on the server for the first rendering, and in the browser for
 * each keystroke.
 */
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
      // A row counts for a facet if no other facet excludes it.
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

/** A facet and one of its values, such as `supported=yes`. */
export type ChainFilter = `${FacetName}=${string}`;

/** Filters that restrict this table. A value that no chain has, or that all have, restricts nothing. */
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

/** A complete id such as `0x1` or `eip155:1` is matched exactly; everything else may be part of a name. */
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

/** Exact matches first, then supported chains, then name matches, then those with the most contracts. Claims only decide between equals. */
function byRelevance(words: string): Comparison {
  const ranksOf = ({ row, name, short }: IndexedRow): readonly number[] => [
    Number(
      words !== '' &&
        [name, short, String(row.chainId), ...formerNamesOf(row.chainId)].includes(words),
    ),
    Number(row.supported),
    Number(words !== '' && name.startsWith(words)),
    (row.full ?? 0) + (row.partial ?? 0),
    row.claimed ?? 0,
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
  // Chains without a short name come last instead of first.
  short: (left, right) =>
    Number(left.short === '') - Number(right.short === '') || compareText(left.short, right.short),
  full: (left, right) => compareCounts(left.row.full, right.row.full),
  partial: (left, right) => compareCounts(left.row.partial, right.row.partial),
  claimed: (left, right) => compareCounts(left.row.claimed, right.row.claimed),
  share: (left, right) => shareOf(left.row) - shareOf(right.row),
  last: (left, right) => compareText(left.row.lastVerifiedAt ?? '', right.row.lastVerifiedAt ?? ''),
  health: (left, right) =>
    HEALTH_ORDER.indexOf(left.row.health) - HEALTH_ORDER.indexOf(right.row.health),
};

/** Rows of one page; a page past the end returns the last one. */
export function pageOf(
  rows: readonly ChainRow[],
  page: number,
): { readonly rows: readonly ChainRow[]; readonly page: number; readonly pages: number } {
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const shown = Math.min(page, pages);
  return { rows: rows.slice((shown - 1) * PAGE_ROWS, shown * PAGE_ROWS), page: shown, pages };
}
