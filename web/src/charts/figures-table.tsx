import { type VNode } from 'preact';
import { formatCsv } from '../csv.ts';
import { formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type ChartScale } from './axes.ts';
import { formatFigure } from './format-figure.ts';
import { type Series } from './series.ts';

/** Maximum rows of the table; the CSV contains all. */
const ROWS_SHOWN = 1_000;

/** Values of a chart, as CSV and as a table. */
export function FiguresTable({
  dates,
  series,
  scale,
  caption,
  fileName,
}: {
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly scale: ChartScale;
  readonly caption: string;
  /** Name of the CSV file, without extension. */
  readonly fileName: string;
}): VNode {
  const rows = dates.map((date, index) => ({
    date,
    values: series.map(({ values }) => values[index] ?? null),
  }));
  return (
    <div class="chart-figures">
      <p>
        <DownloadButton
          name={`${fileName}.csv`}
          type="text/csv"
          make={() =>
            formatCsv(
              ['date', ...series.map(({ name }) => name)],
              rows.map(({ date, values }) => [date, ...values]),
            )
          }
        >
          Download CSV
        </DownloadButton>
      </p>
      <details>
        <summary>The same figures as a table</summary>
        <TableRegion label={caption}>
          <table>
            <caption class="unseen">{caption}, the last day first</caption>
            <thead>
              <tr>
                <th scope="col">Until</th>
                {series.map(({ key, name }) => (
                  <th key={key} scope="col" class="figure">
                    <SafeText text={name} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows
                .slice(-ROWS_SHOWN)
                .reverse()
                .map(({ date, values }) => (
                  <tr key={date}>
                    <th scope="row">{date}</th>
                    {values.map((value, index) => (
                      <td key={index} class="figure">
                        {formatFigure(value, scale)}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </TableRegion>
        {rows.length > ROWS_SHOWN && (
          <p class="quiet">
            The last {formatCount(ROWS_SHOWN)} of {formatCount(rows.length)} rows; the CSV has them
            all.
          </p>
        )}
      </details>
    </div>
  );
}
