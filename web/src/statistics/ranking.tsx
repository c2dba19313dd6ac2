import { type ComponentChildren, type VNode } from 'preact';
import { CountsBar } from '../charts/counts-bar.tsx';
import { allOf, type CountsApart, hasClaims, verifiedOf } from '../counts-apart.ts';
import { formatCsv } from '../csv.ts';
import { formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { ShareBar } from '../parts/marks.tsx';
import { RecordTable } from '../parts/record-table.tsx';
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

interface Row {
  readonly name: ComponentChildren;
  readonly counts: CountsApart;
}

/** The largest entries, and the rest as one row; the bar shows full, partial and claims side by side. */
export function Ranking<Entry extends CountsApart>(props: Props<Entry>): VNode {
  const { title, what, entries, top, fileName, nameOf, show } = props;
  const ranked = rank(entries, top);
  const { rest } = ranked;
  const most = Math.max(1, allOf(rest), ...ranked.top.map(allOf));
  const [first] = ranked.top;
  const withClaims = hasClaims(entries);
  if (first === undefined) return <p>Nothing is verified here yet.</p>;
  const rows: Row[] = ranked.top.map((counts) => ({ name: show(counts), counts }));
  if (rest.count > 0) rows.push({ name: `the rest (${formatCount(rest.count)})`, counts: rest });
  return (
    <figure class="ranking">
      <figcaption>
        {nameOf(first)}: {describeLead(first, entries)}.
      </figcaption>
      <RecordTable
        label={title}
        rows={rows}
        columns={[
          { title: what, show: ({ name }) => name },
          { title: 'Full', className: 'figure', show: ({ counts }) => formatCount(counts.full) },
          {
            title: 'Partial',
            className: 'figure',
            show: ({ counts }) => formatCount(counts.partial),
          },
          ...(withClaims
            ? [
                {
                  title: 'Claims',
                  className: 'figure',
                  show: ({ counts }: Row) => formatCount(counts.claimed),
                },
              ]
            : []),
          {
            title: 'Together',
            className: 'bars',
            show: ({ counts }) => <CountsBar {...counts} most={most} />,
          },
          { title: 'Share of full', show: ({ counts }) => <ShareBar {...counts} /> },
        ]}
      />
      <DownloadButton
        name={`${fileName}.csv`}
        type="text/csv"
        make={() =>
          formatCsv(
            [what.toLowerCase(), 'full', 'partial', ...(withClaims ? ['claimed'] : [])],
            entries.map((entry) => [
              ...[nameOf(entry), entry.full, entry.partial],
              ...(withClaims ? [entry.claimed] : []),
            ]),
          )
        }
      >
        Download all as CSV
      </DownloadButton>
    </figure>
  );
}

/** The part of the first entry, among the verified contracts, or among the claims if nothing is verified. */
function describeLead(first: CountsApart, entries: readonly CountsApart[]): string {
  const verified = entries.reduce((sum, each) => sum + verifiedOf(each), 0);
  if (verified > 0) {
    return `${formatCount(verifiedOf(first))} of ${formatCount(verified)} verified contracts`;
  }
  const claims = entries.reduce((sum, { claimed }) => sum + claimed, 0);
  return `${formatCount(first.claimed)} of ${formatCount(claims)} claims`;
}
