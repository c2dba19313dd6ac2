import { type ComponentChildren, type VNode } from 'preact';
import { CountsBar } from '../charts/counts-bar.tsx';
import { allOf, type CountsApart, hasClaims, verifiedOf } from '../counts-apart.ts';
import { formatCsv } from '../csv.ts';
import { formatCount } from '../format.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { ShareBar } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
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

/** The largest entries, and the rest as one row; the bar shows full, partial and claims side by side. */
export function Ranking<Entry extends CountsApart>(props: Props<Entry>): VNode {
  const { title, what, entries, top, fileName, nameOf, show } = props;
  const ranked = rank(entries, top);
  const { rest } = ranked;
  const most = Math.max(1, allOf(rest), ...ranked.top.map(allOf));
  const [first] = ranked.top;
  const withClaims = hasClaims(entries);
  if (first === undefined) return <p>Nothing is verified here yet.</p>;
  return (
    <figure class="ranking">
      <figcaption>
        {nameOf(first)}: {describeLead(first, entries)}.
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
              {withClaims && (
                <th scope="col" class="figure">
                  Claims
                </th>
              )}
              <th scope="col">Together</th>
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
                withClaims={withClaims}
              />
            ))}
            {rest.count > 0 && (
              <Row
                name={`the rest (${formatCount(rest.count)})`}
                counts={rest}
                most={most}
                withClaims={withClaims}
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

function Row({
  name,
  counts: { full, partial, claimed },
  most,
  withClaims,
}: {
  readonly name: ComponentChildren;
  readonly counts: CountsApart;
  readonly most: number;
  readonly withClaims: boolean;
}): VNode {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="figure">{formatCount(full)}</td>
      <td class="figure">{formatCount(partial)}</td>
      {withClaims && <td class="figure">{formatCount(claimed)}</td>}
      <td class="bars">
        <CountsBar {...{ full, partial, claimed, most }} />
      </td>
      <td>
        <ShareBar {...{ full, partial }} />
      </td>
    </tr>
  );
}
