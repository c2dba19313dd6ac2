import { type HistoryPoint, type MatchCounts } from '../shapes.ts';

/** How counts are drawn: as they are, by their orders of magnitude, or as the share of full ones. */
export const SCALES = ['linear', 'log', 'share'] as const;
export type Scale = (typeof SCALES)[number];

/** A point of the history, with what came since the one before. */
export interface GrowthPoint extends HistoryPoint {
  readonly change: MatchCounts | null;
}

/** What came in each interval; of the first nothing is known. */
export function withGrowth(points: readonly HistoryPoint[]): GrowthPoint[] {
  return points.map((point, index) => {
    const before = points[index - 1];
    const change = before && {
      full: point.full - before.full,
      partial: point.partial - before.partial,
    };
    return { ...point, change: change ?? null };
  });
}

/** The lines of a scale by their names. What a scale cannot show, such as the logarithm of none, is null. */
export function toLines(
  points: readonly HistoryPoint[],
  scale: Scale,
): { readonly name: 'full' | 'partial'; readonly values: readonly (number | null)[] }[] {
  if (scale === 'share') {
    const values = points.map(({ full, partial }) =>
      full + partial === 0 ? null : (100 * full) / (full + partial),
    );
    return [{ name: 'full', values }];
  }
  return (['full', 'partial'] as const).map((name) => ({
    name,
    values: points.map((point) => (scale === 'log' && point[name] <= 0 ? null : point[name])),
  }));
}

/** The largest entries, and the others as one sum. */
export interface Ranked<Entry> {
  readonly top: readonly Entry[];
  readonly rest: MatchCounts & { readonly count: number };
}

/** Entries by their full and partial matches together, the largest first; equal ones keep their order. */
export function rank<Entry extends MatchCounts>(
  entries: readonly Entry[],
  limit: number,
): Ranked<Entry> {
  const sorted = [...entries].sort((a, b) => b.full + b.partial - (a.full + a.partial));
  const others = sorted.slice(limit);
  const sum = (name: keyof MatchCounts): number =>
    others.reduce((total, entry) => total + entry[name], 0);
  return {
    top: sorted.slice(0, limit),
    rest: { count: others.length, full: sum('full'), partial: sum('partial') },
  };
}
