import { type VNode } from 'preact';
import { Chart } from '../charts/chart.tsx';
import { WithdrawalList } from '../charts/withdrawal-list.tsx';
import { FiguresTable } from '../charts/figures-table.tsx';
import { joinWithdrawals } from '../charts/join-withdrawals.ts';
import { formatCount } from '../format.ts';
import { type MatchCounts, type StatisticsHistory } from '../answers.ts';
import './trend.css';

const HEIGHT = 110;
const KINDS = ['full', 'partial'] as const;

/** The counts over the days of a history: a chart each for full and partial, and the same figures as a table. */
export function Trend({
  history,
  fileName,
  base,
}: {
  readonly history: StatisticsHistory;
  /** The name of the CSV file, without its extension. */
  readonly fileName: string;
  /** To the root of the API host, where the history is one of several chains: withdrawals name theirs then. */
  readonly base?: string;
}): VNode | null {
  const { points, withdrawals, from, to } = history;
  if (points.length === 0) return null;
  const dates = points.map(({ date }) => date);
  const marks = joinWithdrawals(withdrawals, dates);
  const series = KINDS.map((kind) => ({
    key: kind,
    name: kind,
    look: kind,
    values: points.map((point) => point[kind]),
  }));
  return (
    <div class="trend">
      <div class="trend-lines">
        {series.map((each) => {
          const message = describeChange(points, each.key);
          return (
            <figure key={each.key}>
              <figcaption>{message}</figcaption>
              <Chart
                dates={dates}
                series={[each]}
                scale="linear"
                marks={marks
                  .filter((mark) => mark.withdrawals.some((withdrawal) => withdrawal[each.key] < 0))
                  .map((mark) => ({ ...mark, on: each.key }))}
                height={HEIGHT}
                fit
                message={`${message}. The table below has the figures.`}
              />
            </figure>
          );
        })}
      </div>
      <WithdrawalList marks={marks} base={base} />
      <FiguresTable
        dates={dates}
        series={series}
        scale="linear"
        caption={`Counts by day from ${from} to ${to}`}
        fileName={fileName}
      />
    </div>
  );
}

/** What a line says: how far it rose or fell. */
function describeChange(points: StatisticsHistory['points'], kind: keyof MatchCounts): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return '';
  const change = last[kind] - first[kind];
  const name = kind === 'full' ? 'Full' : 'Partial';
  if (change === 0) return `${name} matches did not change since ${first.date}`;
  const verb = change > 0 ? 'rose' : 'fell';
  return `${name} matches ${verb} by ${formatCount(Math.abs(change))} since ${first.date}`;
}
