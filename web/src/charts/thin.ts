import { type Series, type Span } from './series.ts';

/** A chart is about a thousand pixels wide: each stretch of points is ten of them. */
const STRETCHES = 100;
/** As many points as the stretches may keep. A line of fewer is drawn as it is. */
export const POINTS_DRAWN = 5 * STRETCHES;

/** The bounds of the stretches of so many points. */
function stretchesOf(count: number): readonly (readonly [from: number, to: number])[] {
  return Array.from({ length: STRETCHES }, (_, index) => [
    Math.floor((index * count) / STRETCHES),
    Math.floor(((index + 1) * count) / STRETCHES),
  ]);
}

/**
 * The points of a line that are drawn, ascending. Of a long one each stretch keeps its first and its last point, its least and its
 * largest one, and one without a value.
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

/** Bars with the places of their ends, as many as there are spans. */
interface ThinnedBars {
  readonly spans: readonly (Span | null)[];
  readonly places: readonly number[];
}

/** The bars that are drawn. Of many each stretch has one bar: the one that reaches farthest. */
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
  // A bar reaches from the place before its own.
  const places = [xs[0] ?? 0, ...stretches.map(({ end }) => end)];
  return bars.map((spans) => ({
    spans: [null, ...stretches.map(({ farthest }) => spans[farthest] ?? null)],
    places,
  }));
}
