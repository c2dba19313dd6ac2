import { type ChartScale } from '../charts/axes.ts';
import { formatFigure } from '../charts/format-figure.ts';
import { type Series } from '../charts/series.ts';
import { formatCount } from '../format.ts';

/** Subject of a chart, as part of a sentence. */
interface ChartFigures {
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly scale: ChartScale;
}

const lastOf = ({ values }: Series): number | null => values.at(-1) ?? null;
const span = ({ dates }: ChartFigures): string => `From ${dates[0] ?? ''} to ${dates.at(-1) ?? ''}`;
const course = (series: Series, scale: ChartScale): string =>
  `from ${formatFigure(series.values[0] ?? null, scale)} to ${formatFigure(lastOf(series), scale)}`;

const nameOf = ({ key, name }: Series): string => (key === 'claimed' ? 'claims' : name);

/** The trend of each line. */
export function describeMatches(figures: ChartFigures): string {
  const courses = figures.series.map(
    (each, index) =>
      `${nameOf(each)}${index === 0 ? ' matches went' : ''} ${course(each, figures.scale)}`,
  );
  return `${span(figures)} ${courses.join(', ')}.`;
}

/** The leading chain. */
export function describeChains(figures: ChartFigures): string {
  const chains = figures.series.filter(({ look }) => look !== 'rest');
  const [first] = chains.sort((left, right) => (lastOf(right) ?? 0) - (lastOf(left) ?? 0));
  if (first === undefined || !lastOf(first))
    return `${span(figures)} nothing is verified on these chains.`;
  const what = figures.scale === 'share' ? 'the largest share of full matches' : 'the most matches';
  return `${span(figures)} ${first.name} has ${what}: ${course(first, figures.scale)}.`;
}

/** The interval with the most additions; claims are not verified contracts. */
export function describeGrowth(figures: ChartFigures): string {
  const verified = figures.series.filter(({ key }) => key !== 'claimed');
  const sums = figures.dates.map((_, index) =>
    verified.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const most = Math.max(...sums);
  if (most <= 0)
    return `${span(figures)} the number of verified contracts did not grow in any interval.`;
  const date = figures.dates[sums.indexOf(most)] ?? '';
  return `${span(figures)} the busiest interval ended on ${date}: ${formatCount(most)} new verified contracts.`;
}
