import { type ComponentChildren, type VNode } from 'preact';
import { formatCsv } from '../csv.ts';
import { formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { ShareBar } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type MatchCounts } from '../shapes.ts';
import { rank } from './series.ts';

interface Props<Entry> {
  readonly title: string;
  /** The heading of the first column. */
  readonly what: string;
  readonly entries: readonly Entry[];
  readonly top: number;
  readonly fileName: string;
  readonly nameOf: (entry: Entry) => string;
  readonly show: (entry: Entry) => ComponentChildren;
}

const WIDTH = 100;

/** The largest entries with the rest as one row; the bar is full and partial beside each other. */
export function Ranking<Entry extends MatchCounts>(props: Props<Entry>): VNode {
  const { title, what, entries, top, fileName, nameOf, show } = props;
  const ranked = rank(entries, top);
  const { rest } = ranked;
  const most = Math.max(
    1,
    rest.full + rest.partial,
    ...ranked.top.map((each) => each.full + each.partial),
  );
  const [first] = ranked.top;
  if (first === undefined) return <p>Nothing is verified here yet.</p>;
  return (
    <figure class="ranking">
      <figcaption>
        {nameOf(first)} has the most: {formatCount(first.full + first.partial)} contracts.
      </figcaption>
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
              <Row key={nameOf(entry)} name={show(entry)} counts={entry} most={most} />
            ))}
            {rest.count > 0 && (
              <Row name={`the rest (${formatCount(rest.count)})`} counts={rest} most={most} />
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
        Download CSV
      </DownloadButton>
    </figure>
  );
}

function Row({
  name,
  counts,
  most,
}: {
  readonly name: ComponentChildren;
  readonly counts: MatchCounts;
  readonly most: number;
}): VNode {
  const [full, partial] = [counts.full, counts.partial].map((count) => (count / most) * WIDTH) as [
    number,
    number,
  ];
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="figure">{formatCount(counts.full)}</td>
      <td class="figure">{formatCount(counts.partial)}</td>
      <td class="bars">
        <svg viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-full" width={full.toFixed(2)} height="8" />
          <rect
            class="bar-partial"
            x={full.toFixed(2)}
            y="2"
            width={partial.toFixed(2)}
            height="4"
          />
        </svg>
      </td>
      <td>
        <ShareBar full={counts.full} partial={counts.partial} />
      </td>
    </tr>
  );
}
