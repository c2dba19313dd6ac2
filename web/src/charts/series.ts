import { type Axis } from './axes.ts';

/** A line of a chart, or a colour of its bars. */
export interface Series {
  readonly key: string;
  readonly name: string;
  /** One for each date; null if unknown. */
  readonly values: readonly (number | null)[];
  /** CSS class of its colour and pattern. */
  readonly look: string;
}

/** Start and end of a bar. */
export type Span = readonly [number, number];

/** Stacks bars: increases above zero, decreases below. */
export function stackBars(series: readonly Series[]): (Span | null)[][] {
  const tops: number[] = [];
  const bottoms: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      if (value === null) return null;
      const ends = value < 0 ? bottoms : tops;
      const from = ends[index] ?? 0;
      ends[index] = from + value;
      return [from, from + value];
    }),
  );
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** SVG path of a line through its known values; an unknown value is a gap. */
export function linePath(values: Series['values'], xs: readonly number[], y: Axis): string {
  return values
    .map((value, index) => {
      if (value === null) return '';
      const point = `${round(xs[index] ?? 0)},${round(y.place(value))}`;
      if (typeof values[index - 1] === 'number') return `L${point}`;
      // A point between two gaps is closed, so that it is drawn.
      return typeof values[index + 1] === 'number' ? `M${point}` : `M${point}Z`;
    })
    .join('');
}

/** Gap between bars, as a part of a bar's width. */
const GAP = 0.1;

/** SVG path of bars; each spans from the previous position to its own. */
export function barPath(spans: readonly (Span | null)[], xs: readonly number[], y: Axis): string {
  return spans
    .map((span, index) => {
      if (span === null || span[0] === span[1]) return '';
      const [from = 0, to = 0] = [xs[index - 1], xs[index]];
      const [low = 0, high = 0] = span.map((value) => round(y.place(value)));
      return `M${round(from)} ${low}V${high}H${round(to - (to - from) * GAP)}V${low}Z`;
    })
    .join('');
}
