import { type VNode } from 'preact';
import { type ChartScale } from '../charts/axes.ts';
import { Chart } from '../charts/chart.tsx';
import { WithdrawalList } from '../charts/withdrawal-list.tsx';
import { FiguresTable } from '../charts/figures-table.tsx';
import { fromFirstEvent } from '../charts/from-first-event.ts';
import {
  fallenSeries,
  joinWithdrawals,
  largestWithdrawal,
  type Withdrawal,
} from '../charts/join-withdrawals.ts';
import { type Series } from '../charts/series.ts';
import { Failure } from '../parts/notices.tsx';
import { type HistoryPoint } from '../answers.ts';
import { hasClaims } from '../counts-apart.ts';
import { describeChains, describeGrowth, describeMatches } from './describe.ts';
import { type StatisticsData } from './load.ts';
import { type StatisticsQuery } from './statistics-query.ts';
import { type ChainHistory, chainSeries, growthSeries, matchSeries } from './series.ts';

const HEIGHT = 288;

/** Which counts are drawn, and how. */
interface Choice {
  readonly series: readonly Series[];
  readonly scale: ChartScale;
  readonly as?: 'bars';
  readonly describe: typeof describeMatches;
  /** Note on data that the chart cannot show. */
  readonly note?: string | undefined;
  /** Key of the series that withdrawals are marked on. */
  readonly seriesOf: (withdrawal: Withdrawal) => string;
}

/** Counts over time: the chart, the reasons of decreases, and the values. */
export function OverTime({
  data: { history, apart },
  question,
  base,
}: {
  readonly data: StatisticsData;
  readonly question: StatisticsQuery;
  readonly base: string;
}): VNode {
  if (history.state === 'failed') return <Failure what="The history" loaded={history} />;
  if (apart?.state === 'failed') return <Failure what="The history by chain" loaded={apart} />;
  const { points: all, withdrawals, from, to } = history.value;
  const points = fromFirstEvent(all);
  const dates = points.map(({ date }) => date);
  const { series, scale, as, describe, note, seriesOf } = choose(
    points,
    // The same days for each chain.
    apart?.value.map((chain) => ({ ...chain, points: chain.points.slice(-points.length) })),
    question,
  );
  const message = describe({ dates, series, scale });
  const marks = joinWithdrawals(withdrawals, dates);
  return (
    <figure class="history">
      <figcaption>
        {message}
        {note !== undefined && <span class="quiet"> {note}</span>}
      </figcaption>
      <Chart
        {...{ dates, series, scale, as }}
        marks={marks.map((mark) => ({ ...mark, on: seriesOf(largestWithdrawal(mark)) }))}
        height={HEIGHT}
        message={`${message} The table below has the figures.`}
      />
      <WithdrawalList marks={marks} base={base} />
      <FiguresTable
        {...{ dates, series, scale }}
        caption={`The figures from ${from} to ${to}`}
        fileName={`statistics-${question.shown}-${from}-${to}`}
      />
    </figure>
  );
}

function choose(
  points: readonly HistoryPoint[],
  apart: readonly ChainHistory[] | undefined,
  { shown, scale }: StatisticsQuery,
): Choice {
  if (shown === 'growth') {
    const note = 'Growth is shown as counts only: decreases have no logarithm and no share.';
    return {
      series: growthSeries(points),
      scale: 'linear',
      as: 'bars',
      describe: describeGrowth,
      note: scale === 'linear' ? undefined : note,
      seriesOf: fallenSeries,
    };
  }
  const note =
    scale === 'log'
      ? 'On a logarithmic scale each line starts with its first contract.'
      : undefined;
  if (apart === undefined) {
    const series = matchSeries(points, scale);
    return { series, scale, describe: describeMatches, note, seriesOf: fallenSeries };
  }
  const series = chainSeries(apart, scale);
  const keyOf = ({ chainId }: Withdrawal): string =>
    series.find(({ key }) => key === String(chainId))?.key ?? 'rest';
  const claims = hasClaims(points) ? 'Claims of other services are not included.' : undefined;
  const notes = [note, claims].filter((each) => each !== undefined).join(' ') || undefined;
  return { series, scale, describe: describeChains, note: notes, seriesOf: keyOf };
}
