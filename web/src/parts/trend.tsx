import { type VNode } from 'preact';
import { formatCount, formatChange } from '../format.ts';
import { formatCsv } from '../csv.ts';
import { type HistoryPoint, type StatisticsHistory } from '../shapes.ts';
import { trendPath } from '../trend-path.ts';
import { DownloadButton } from './download-button.tsx';
import { TableRegion } from './table-region.tsx';
import './trend.css';

const WIDTH = 400;
const HEIGHT = 90;

/** The counts over the days of a history: a line each for full and partial, and the same figures as a table. */
export function Trend({
  history,
  fileName,
}: {
  readonly history: StatisticsHistory;
  /** Of the CSV, without its ending. */
  readonly fileName: string;
}): VNode {
  const { points, falls, from, to } = history;
  return (
    <div class="trend">
      <div class="trend-lines">
        <Line points={points} match="full" />
        <Line points={points} match="partial" />
      </div>
      {falls.length > 0 && (
        <ul class="falls">
          {falls.slice(-5).map((fall) => (
            <li key={`${fall.date} ${fall.chainId} ${fall.reason}`}>
              {fall.date}: {formatChange(fall.full + fall.partial)} on chain {fall.chainId},
              withdrawn because: <bdi>{fall.reason}</bdi>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>The same figures as a table</summary>
        <p>
          <DownloadButton
            name={`${fileName}.csv`}
            type="text/csv"
            make={() =>
              formatCsv(
                ['date', 'full', 'partial'],
                points.map(({ date, full, partial }) => [date, full, partial]),
              )
            }
          >
            Download CSV
          </DownloadButton>
        </p>
        <TableRegion label={`Counts by day from ${from} to ${to}`}>
          <table>
            <caption class="unseen">Counts at the end of each day, UTC</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="figure">
                  Full
                </th>
                <th scope="col" class="figure">
                  Partial
                </th>
              </tr>
            </thead>
            <tbody>
              {[...points].reverse().map(({ date, full, partial }) => (
                <tr key={date}>
                  <th scope="row">{date}</th>
                  <td class="figure">{formatCount(full)}</td>
                  <td class="figure">{formatCount(partial)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      </details>
    </div>
  );
}

function Line({
  points,
  match,
}: {
  readonly points: readonly HistoryPoint[];
  readonly match: 'full' | 'partial';
}): VNode | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const values = points.map((point) => point[match]);
  const change = last[match] - first[match];
  const name = match === 'full' ? 'Full' : 'Partial';
  const message =
    change === 0
      ? `${name} matches did not change since ${first.date}`
      : `${name} matches ${change > 0 ? 'rose' : 'fell'} by ${formatCount(Math.abs(change))} since ${first.date}`;
  return (
    <figure class={`line ${match}`}>
      <figcaption>{message}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${message}. The table below has the figures.`}
      >
        <path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        <path class="graph" d={trendPath(values, WIDTH, HEIGHT)} />
      </svg>
      <p class="ends">
        <span>
          {formatCount(first[match])} <span class="quiet">{first.date}</span>
        </span>
        <span>
          {formatCount(last[match])} <span class="quiet">{last.date}</span>
        </span>
      </p>
    </figure>
  );
}
