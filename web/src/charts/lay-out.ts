import { type Axis, type ChartScale, timeAxis, valueAxis } from './axes.ts';
import { barPath, linePath, type Series, stackBars } from './series.ts';
import { thinBars, thinLine } from './thin.ts';

/** The series of a chart, and how to draw them. */
export interface Drawing {
  /** The days of the points, ascending; not empty. */
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly scale: ChartScale;
  /** Lines (without it), or bars that stand on each other. */
  readonly as?: 'lines' | 'bars' | undefined;
  /** The height of the drawing in pixels, without the names of the days. */
  readonly height: number;
  /** Whether the axis begins near the least value in place of none. */
  readonly fit?: boolean;
}

/** The field of the paths is stretched to the width that there is; texts and marks keep their form. */
export const WIDTH = 1000;

/** How far right something lies. */
export const percentOf = (x: number): string => `${((100 * x) / WIDTH).toFixed(2)}%`;

/** Where everything of a chart lies. */
export interface ChartLayout {
  readonly x: Axis;
  readonly y: Axis;
  /** One for each series. */
  readonly paths: readonly string[];
  /** How far right a point lies, or the middle of its bar, in percent of the width. */
  readonly left: (index: number) => string;
  /** How far down the value of a series lies, of a bar its middle; at the bottom where there is none. */
  readonly top: (line: number, index: number) => number;
  /** The point that lies nearest to a part of the width. */
  readonly nearest: (share: number) => number;
}

/** Finds the places of all parts of a chart. */
export function layOut({ dates, series, scale, as, height, fit }: Drawing): ChartLayout {
  const x = timeAxis(dates, WIDTH);
  const xs = dates.map((date) => x.place(Date.parse(date)));
  const bars = as === 'bars' ? stackBars(series) : undefined;
  // A bar reaches from the point before its own, and is looked at in its middle.
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
