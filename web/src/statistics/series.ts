import { type ChartScale } from '../charts/axes.ts';
import { type Series } from '../charts/series.ts';
import { type HistoryPoint, type MatchCounts } from '../answers.ts';
import { compareCounts, type CountsApart, hasClaims, verifiedOf } from '../counts-apart.ts';

/** The points of a chain, or of the rest without an id. */
export interface ChainHistory {
  readonly chainId?: number;
  readonly name: string;
  readonly points: readonly HistoryPoint[];
}

/** Claims have a line only if there are any. */
const kindsOf = (points: readonly HistoryPoint[]) =>
  hasClaims(points) ? (['full', 'partial', 'claimed'] as const) : (['full', 'partial'] as const);

/** Full and partial matches over time, and claims; or the share of full matches as one line. */
export function matchSeries(points: readonly HistoryPoint[], scale: ChartScale): Series[] {
  if (scale === 'share') {
    return [{ key: 'full', name: 'share of full', look: 'full', values: points.map(shareOf) }];
  }
  return kindsOf(points).map((kind) => ({
    key: kind,
    name: kind,
    look: kind,
    values: points.map((point) => valueOn(scale, point[kind])),
  }));
}

/** Matches of each chain over time, full and partial together, without claims; the rest has no id. */
export function chainSeries(histories: readonly ChainHistory[], scale: ChartScale): Series[] {
  return histories.map(({ chainId, name, points }, index) => ({
    key: String(chainId ?? 'rest'),
    name,
    look: chainId === undefined ? 'rest' : `line-${index + 1}`,
    values: points.map((point) =>
      scale === 'share' ? shareOf(point) : valueOn(scale, verifiedOf(point)),
    ),
  }));
}

/** Additions in each interval; unknown for the first. */
export function growthSeries(points: readonly HistoryPoint[]): Series[] {
  return kindsOf(points).map((kind) => ({
    key: kind,
    name: kind,
    look: kind,
    values: points.map((point, index) => {
      const before = points[index - 1];
      return before === undefined ? null : point[kind] - before[kind];
    }),
  }));
}

/** In percent, to one decimal place. */
function shareOf({ full, partial }: MatchCounts): number | null {
  return full + partial === 0 ? null : Math.round((1000 * full) / (full + partial)) / 10;
}

/** Zero has no logarithm. */
function valueOn(scale: ChartScale, count: number): number | null {
  return scale === 'log' && count <= 0 ? null : count;
}

/** The largest entries, and the sum of the others. */
export interface Ranked<Entry> {
  readonly top: readonly Entry[];
  readonly rest: CountsApart & { readonly count: number };
}

/** Sorts entries by full and partial matches together, descending, then by claims; ties keep their order. */
export function rank<Entry extends CountsApart>(
  entries: readonly Entry[],
  limit: number,
): Ranked<Entry> {
  const sorted = [...entries].sort(compareCounts);
  const others = sorted.slice(limit);
  const sum = (name: keyof CountsApart): number =>
    others.reduce((total, entry) => total + entry[name], 0);
  return {
    top: sorted.slice(0, limit),
    rest: {
      count: others.length,
      ...{ full: sum('full'), partial: sum('partial'), claimed: sum('claimed') },
    },
  };
}
