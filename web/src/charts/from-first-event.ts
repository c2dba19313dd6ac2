import { type MatchCounts } from '../answers.ts';

/**
 * The points from the day before the first contract on: the empty time before it says nothing and would press the rest
 * together. All of them where a chart begins with contracts, or has none.
 */
export function fromFirstEvent<Point extends MatchCounts>(
  points: readonly Point[],
): readonly Point[] {
  const first = points.findIndex(({ full, partial }) => full + partial > 0);
  return first <= 1 ? points : points.slice(first - 1);
}
