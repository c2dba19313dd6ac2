import { type ChartScale } from '../charts/axes.ts';
import { formatFigure } from '../charts/format-figure.ts';
import { type Series } from '../charts/series.ts';
import { formatCount } from '../format.ts';

/** What is told of the figures of a chart. */
interface Told {
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly scale: ChartScale;
}

const lastOf = ({ values }: Series): number | null => values.at(-1) ?? null;
const span = ({ dates }: Told): string => `From ${dates[0] ?? ''} to ${dates.at(-1) ?? ''}`;
const course = (series: Series, scale: ChartScale): string =>
  `from ${formatFigure(series.values[0] ?? null, scale)} to ${formatFigure(lastOf(series), scale)}`;

/** How each line went. */
export function describeMatches(told: Told): string {
  const courses = told.series.map(
    (each, index) =>
      `${each.name}${index === 0 ? ' matches went' : ''} ${course(each, told.scale)}`,
  );
  return `${span(told)} ${courses.join(', ')}.`;
}

/** Which chain is ahead. */
export function describeChains(told: Told): string {
  const chains = told.series.filter(({ look }) => look !== 'rest');
  const [first] = chains.sort((left, right) => (lastOf(right) ?? 0) - (lastOf(left) ?? 0));
  if (first === undefined || !lastOf(first))
    return `${span(told)} nothing is verified on these chains.`;
  const what = told.scale === 'share' ? 'the largest share of full matches' : 'the most matches';
  return `${span(told)} ${first.name} came to ${what}: ${course(first, told.scale)}.`;
}

/** When the most came. */
export function describeGrowth(told: Told): string {
  const sums = told.dates.map((_, index) =>
    told.series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const most = Math.max(...sums);
  if (most <= 0) return `${span(told)} no interval brought more contracts than it took.`;
  const date = told.dates[sums.indexOf(most)] ?? '';
  return `${span(told)} the most came in the interval up to ${date}: ${formatCount(most)} contracts.`;
}
