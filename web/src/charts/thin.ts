import { type Series, type Span } from './series.ts';

/** A chart is about a thousand pixels wide: each span of points covers ten of them. */
const STRETCHES = 100;
/** Maximum number of points that are kept. A line with fewer is drawn unchanged. */
export const POINTS_DRAWN = 5 * STRETCHES;

/** Bounds of the spans for a number of points. */
function stretchesOf(count: number): readonly (readonly [from: number, to: number])[] {
  return Array.from({ length: STRETCHES }, (_, index) => [
    Math.floor((index * count) / STRETCHES),
    Math.floor(((index + 1) * count) / STRETCHES),
  ]);
}

/**
 * Selects the points of a line to draw, ascending. Of a long one each span keeps its first, last, least and
 * largest point, and one without a value.
 */
export function thinLine(values: Series['values']): number[] {
  if (values.length <= POINTS_DRAWN) return values.map((_, index) => index);
  return stretchesOf(values.length).flatMap(([from, to]) => {
    const kept = new Set([from, to - 1]);
    let [least, most, none] = [-1, -1, -1];
    for (let index = from; index < to; index += 1) {
      const value = values[index] ?? null;
      if (value === null) none = index;
      else {
        if (least === -1 || value < (values[least] ?? 0)) least = index;
        if (most === -1 || value > (values[most] ?? 0)) most = index;
      }
    }
    for (const index of [least, most, none]) if (index !== -1) kept.add(index);
    return [...kept].sort((left, right) => left - right);
  });
}

/** Bars with their end positions, one for each span. */
interface ThinnedBars {
  readonly spans: readonly (Span | null)[];
  readonly places: readonly number[];
}

/** Selects the bars to draw. With many bars each span keeps the one with the largest extent. */
export function thinBars(
  bars: readonly (readonly (Span | null)[])[],
  xs: readonly number[],
): ThinnedBars[] {
  if (xs.length <= POINTS_DRAWN) return bars.map((spans) => ({ spans, places: xs }));
  const reach = (index: number): number =>
    Math.max(...bars.map((spans) => Math.max(...(spans[index] ?? [0]).map(Math.abs))));
  const stretches = stretchesOf(xs.length).map(([from, to]) => {
    let farthest = from;
    for (let index = from; index < to; index += 1) {
      if (reach(index) > reach(farthest)) farthest = index;
    }
    return { farthest, end: xs[to - 1] ?? 0 };
  });
  // A bar spans from the previous position.
  const places = [xs[0] ?? 0, ...stretches.map(({ end }) => end)];
  return bars.map((spans) => ({
    spans: [null, ...stretches.map(({ farthest }) => spans[farthest] ?? null)],
    places,
  }));
}
