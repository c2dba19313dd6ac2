import { type VNode } from 'preact';
import { Chart } from '../charts/chart.tsx';
import { WithdrawalList } from '../charts/withdrawal-list.tsx';
import { FiguresTable } from '../charts/figures-table.tsx';
import { fromFirstEvent } from '../charts/from-first-event.ts';
import { fallenSeries, joinWithdrawals, largestWithdrawal } from '../charts/join-withdrawals.ts';
import { type CountsApart, hasClaims } from '../counts-apart.ts';
import { formatCount } from '../format.ts';
import { type History, type HistoryPoint } from '../answers.ts';
import { matchSeries } from '../statistics/series.ts';
import './trend.css';

const HEIGHT = 200;

/** Counts over the days of a history, from its first event on: a chart, and the same values as a table. */
export function Trend({
  history,
  fileName,
  base,
}: {
  readonly history: History;
  /** Name of the CSV file, without extension. */
  readonly fileName: string;
  /** Relative URL of the API host's root if the history covers several chains: withdrawals then name theirs. */
  readonly base?: string;
}): VNode | null {
  const { withdrawals, to } = history;
  const points = fromFirstEvent(history.points);
  const [first] = points;
  if (first === undefined) return null;
  const dates = points.map(({ date }) => date);
  const marks = joinWithdrawals(withdrawals, dates);
  const series = matchSeries(points, 'linear');
  const message = describeChange(points);
  return (
    <figure class="trend">
      <figcaption>{message}</figcaption>
      <Chart
        dates={dates}
        series={series}
        scale="linear"
        marks={marks.map((mark) => ({ ...mark, on: fallenSeries(largestWithdrawal(mark)) }))}
        height={HEIGHT}
        message={`${message} The table below has the figures.`}
      />
      <WithdrawalList marks={marks} base={base} />
      <FiguresTable
        dates={dates}
        series={series}
        scale="linear"
        caption={`Counts by day from ${first.date} to ${to}`}
        fileName={fileName}
      />
    </figure>
  );
}

/** Summary of the lines: how far each rose or fell. */
function describeChange(points: readonly HistoryPoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return '';
  const describe = (kind: keyof CountsApart, name: string): string => {
    const change = last[kind] - first[kind];
    if (change === 0) return `${name} did not change`;
    return `${name} ${change > 0 ? 'rose' : 'fell'} by ${formatCount(Math.abs(change))}`;
  };
  const claims = hasClaims(points) ? `, ${describe('claimed', 'claims')}` : '';
  const text = `${describe('full', 'full matches')}, ${describe('partial', 'partial matches')}${claims}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} since ${first.date}.`;
}
