import { line } from 'd3-shape';
import { type Axis } from './axes.ts';

/** One line of a chart, or one colour of its bars. */
export interface Series {
  readonly key: string;
  readonly name: string;
  /** One for each date; null where there is none. */
  readonly values: readonly (number | null)[];
  /** The CSS class for its colour and its pattern. */
  readonly look: string;
}

/** Where a bar begins and ends. */
export type Span = readonly [number, number];

/** Bars on each other: what came above none, what went below it. */
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

/** The path of a line through its values, as far as there are some. */
export function linePath(values: Series['values'], xs: readonly number[], y: Axis): string {
  const path = line<number | null>()
    .x((_, index) => xs[index] ?? 0)
    .y((value) => y.place(value ?? 0))
    .defined((value) => value !== null)
    .digits(2);
  return path(values) ?? '';
}

/** The part of a bar's width that parts it from the next. */
const GAP = 0.1;

/** The path of bars; each reaches from the place before its own to its own. */
export function barPath(spans: readonly (Span | null)[], xs: readonly number[], y: Axis): string {
  const round = (value: number): number => Math.round(value * 100) / 100;
  return spans
    .map((span, index) => {
      if (span === null || span[0] === span[1]) return '';
      const [from = 0, to = 0] = [xs[index - 1], xs[index]];
      const [low = 0, high = 0] = span.map((value) => round(y.place(value)));
      return `M${round(from)} ${low}V${high}H${round(to - (to - from) * GAP)}V${low}Z`;
    })
    .join('');
}
