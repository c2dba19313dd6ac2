import { type VNode } from 'preact';
import { formatCsv } from '../csv.ts';
import { formatChange, formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type StatisticsHistory } from '../shapes.ts';
import { HistoryChart } from './history-chart.tsx';
import { type GrowthPoint, type Scale, withGrowth } from './series.ts';

const FALLS_SHOWN = 20;

/** The counts over time: the lines, why they fell, and the figures. */
export function OverTime({
  history,
  scale,
}: {
  readonly history: StatisticsHistory;
  readonly scale: Scale;
}): VNode {
  const { points, falls, from, to } = history;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return <p>There is no day between these two.</p>;
  const message = `From ${from} to ${to} full matches went from ${formatCount(first.full)} to ${formatCount(last.full)}, partial ones from ${formatCount(first.partial)} to ${formatCount(last.partial)}.`;
  const rows = withGrowth(points);
  return (
    <figure class="history">
      <figcaption>{message}</figcaption>
      <HistoryChart points={points} scale={scale} label={`${message} The table has the figures.`} />
      {falls.length > 0 && (
        <>
          <h3>Why counts fell</h3>
          <ul>
            {falls.slice(-FALLS_SHOWN).map(({ date, chainId, full, partial, reason }) => (
              <li key={`${date} ${chainId} ${reason}`}>
                {date}, chain {chainId}: {formatChange(full)} full, {formatChange(partial)} partial
                – <SafeText text={reason} />
              </li>
            ))}
          </ul>
          {falls.length > FALLS_SHOWN && (
            <p class="quiet">
              The last {FALLS_SHOWN} of {formatCount(falls.length)}.
            </p>
          )}
        </>
      )}
      <DownloadButton
        name={`statistics-${from}-${to}.csv`}
        type="text/csv"
        make={() =>
          formatCsv(
            ['date', 'full', 'partial', 'full_change', 'partial_change'],
            rows.map(({ date, full, partial, change }) => [
              date,
              full,
              partial,
              change?.full,
              change?.partial,
            ]),
          )
        }
      >
        Download CSV
      </DownloadButton>
      <details>
        <summary>The same figures as a table, with their growth</summary>
        <GrowthTable rows={rows} />
      </details>
    </figure>
  );
}

function GrowthTable({ rows }: { readonly rows: readonly GrowthPoint[] }): VNode {
  return (
    <TableRegion label="Counts over time">
      <table>
        <caption class="unseen">Counts at the end of each interval, the last one first</caption>
        <thead>
          <tr>
            <th scope="col">Until</th>
            <th scope="col" class="figure">
              Full
            </th>
            <th scope="col" class="figure">
              Change
            </th>
            <th scope="col" class="figure">
              Partial
            </th>
            <th scope="col" class="figure">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {[...rows].reverse().map(({ date, full, partial, change }) => (
            <tr key={date}>
              <th scope="row">{date}</th>
              <td class="figure">{formatCount(full)}</td>
              <td class="figure">{change === null ? '–' : formatChange(change.full)}</td>
              <td class="figure">{formatCount(partial)}</td>
              <td class="figure">{change === null ? '–' : formatChange(change.partial)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
