import { type Axis, type ChartScale, timeAxis, valueAxis } from './axes.ts';
import { barPath, linePath, type Series, stackBars } from './series.ts';
import { thinBars, thinLine } from './thin.ts';

/** Series of a chart, and how to draw them. */
export interface Drawing {
  /** Days of the points, ascending; not empty. */
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly scale: ChartScale;
  /** Absent for lines; set for stacked bars. */
  readonly as?: 'lines' | 'bars' | undefined;
  /** Height of the drawing in pixels, without the day labels. */
  readonly height: number;
  /** Whether the axis begins near the least value instead of zero. */
  readonly fit?: boolean;
}

/** The paths are stretched to the available width; text and marks keep their proportions. */
export const WIDTH = 1000;

/** Horizontal position. */
export const percentOf = (x: number): string => `${((100 * x) / WIDTH).toFixed(2)}%`;

/** Layout of a chart. */
export interface ChartLayout {
  readonly x: Axis;
  readonly y: Axis;
  /** One for each series. */
  readonly paths: readonly string[];
  /** Horizontal position of a point, or of the middle of its bar, in percent of the width. */
  readonly left: (index: number) => string;
  /** Vertical position of a series' value, or of the middle of its bar; the bottom if there is none. */
  readonly top: (line: number, index: number) => number;
  /** Index of the point nearest to a relative horizontal position. */
  readonly nearest: (share: number) => number;
}

/** Computes the layout of a chart. */
export function layOut({ dates, series, scale, as, height, fit }: Drawing): ChartLayout {
  const x = timeAxis(dates, WIDTH);
  const xs = dates.map((date) => x.place(Date.parse(date)));
  const bars = as === 'bars' ? stackBars(series) : undefined;
  // A bar spans from the previous point to its own, and its middle represents it.
  const middles = bars ? xs.map((place, index) => (place + (xs[index - 1] ?? place)) / 2) : xs;
  const drawn = bars ? bars.flat(2) : series.flatMap(({ values }) => values);
  const y = valueAxis(
    drawn.filter((value) => value !== null),
    scale,
    height,
    fit,
  );
  return {
    x,
    y,
    paths: bars
      ? thinBars(bars, xs).map(({ spans, places }) => barPath(spans, places, y))
      : series.map(({ values }) => {
          const kept = thinLine(values);
          return linePath(pick(values, kept), pick(xs, kept), y);
        }),
    left: (index) => percentOf(middles[index] ?? 0),
    top: (line, index) => {
      const bar = bars?.[line]?.[index];
      const value = bar ? (bar[0] + bar[1]) / 2 : series[line]?.values[index];
      return typeof value === 'number' ? y.place(value) : height;
    },
    nearest: (share) => {
      const distances = middles.map((place) => Math.abs(place - share * WIDTH));
      return distances.indexOf(Math.min(...distances));
    },
  };
}

function pick<Value>(all: readonly Value[], indices: readonly number[]): Value[] {
  return indices.flatMap((index) => all.slice(index, index + 1));
}
