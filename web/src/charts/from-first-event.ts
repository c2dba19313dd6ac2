import { allOf, type CountsApart } from '../counts-apart.ts';

/**
 * Points from the day before the first contract on: the empty time before it would only compress the rest.
 * Returns all points if the chart begins with contracts, or has none.
 */
export function fromFirstEvent<Point extends CountsApart>(
  points: readonly Point[],
): readonly Point[] {
  const first = points.findIndex((point) => allOf(point) > 0);
  return first <= 1 ? points : points.slice(first - 1);
}
