import { type MatchCounts } from '../answers.ts';

/**
 * Points from the day before the first contract on: the empty time before it would only compress the rest.
 * Returns all points if the chart begins with contracts, or has none.
 */
export function fromFirstEvent<Point extends MatchCounts>(
  points: readonly Point[],
): readonly Point[] {
  const first = points.findIndex(({ full, partial }) => full + partial > 0);
  return first <= 1 ? points : points.slice(first - 1);
}
