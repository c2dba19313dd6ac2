import { type ComponentChildren, type VNode } from 'preact';
import { useId } from 'preact/hooks';
import { Hatch, hatched } from '../charts/hatch.tsx';
import { formatCsv } from '../csv.ts';
import { formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { ShareBar } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type MatchCounts } from '../answers.ts';
import { rank } from './series.ts';

interface Props<Entry> {
  readonly title: string;
  /** Heading of the first column. */
  readonly what: string;
  readonly entries: readonly Entry[];
  readonly top: number;
  readonly fileName: string;
  readonly nameOf: (entry: Entry) => string;
  readonly show: (entry: Entry) => ComponentChildren;
}

/** The largest entries, and the rest as one row; the bar shows full and partial side by side. */
export function Ranking<Entry extends MatchCounts>(props: Props<Entry>): VNode {
  const { title, what, entries, top, fileName, nameOf, show } = props;
  const hatch = useId();
  const ranked = rank(entries, top);
  const { rest } = ranked;
  const most = Math.max(
    1,
    rest.full + rest.partial,
    ...ranked.top.map((each) => each.full + each.partial),
  );
  const [first] = ranked.top;
  const total = entries.reduce((sum, { full, partial }) => sum + full + partial, 0);
  if (first === undefined) return <p>Nothing is verified here yet.</p>;
  return (
    <figure class="ranking">
      <figcaption>
        {nameOf(first)}: {formatCount(first.full + first.partial)} of {formatCount(total)}{' '}
        contracts.
      </figcaption>
      <svg class="hatch" aria-hidden="true">
        <Hatch id={hatch} look="partial" />
      </svg>
      <TableRegion label={title}>
        <table>
          <caption class="unseen">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{what}</th>
              <th scope="col" class="figure">
                Full
              </th>
              <th scope="col" class="figure">
                Partial
              </th>
              <th scope="col">Both</th>
              <th scope="col">Share of full</th>
            </tr>
          </thead>
          <tbody>
            {ranked.top.map((entry) => (
              <Row
                key={nameOf(entry)}
                name={show(entry)}
                counts={entry}
                most={most}
                hatch={hatch}
              />
            ))}
            {rest.count > 0 && (
              <Row
                name={`the rest (${formatCount(rest.count)})`}
                counts={rest}
                most={most}
                hatch={hatch}
              />
            )}
          </tbody>
        </table>
      </TableRegion>
      <DownloadButton
        name={`${fileName}.csv`}
        type="text/csv"
        make={() =>
          formatCsv(
            [what.toLowerCase(), 'full', 'partial'],
            entries.map((entry) => [nameOf(entry), entry.full, entry.partial]),
          )
        }
      >
        Download all as CSV
      </DownloadButton>
    </figure>
  );
}

function Row({
  name,
  counts: { full, partial },
  most,
  hatch,
}: {
  readonly name: ComponentChildren;
  readonly counts: MatchCounts;
  readonly most: number;
  readonly hatch: string;
}): VNode {
  const percent = (count: number): string => `${((100 * count) / most).toFixed(2)}%`;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="figure">{formatCount(full)}</td>
      <td class="figure">{formatCount(partial)}</td>
      <td class="bars">
        <svg aria-hidden="true">
          <rect class="full" width={percent(full)} height="100%" fill="currentColor" />
          <rect x={percent(full)} width={percent(partial)} height="100%" fill={hatched(hatch)} />
        </svg>
      </td>
      <td>
        <ShareBar full={full} partial={partial} />
      </td>
    </tr>
  );
}
