import { type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { type PageContext } from '../page.ts';
import { HealthMark, ShareBar } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type ChainQuery, type ChainRow, formatChainQuery, type SortKey } from './chain-query.ts';
import { type ChangeQuery } from './use-chain-query.ts';

interface Column {
  readonly title: string;
  readonly sort?: SortKey;
  /** Figures are read from the largest on. */
  readonly figures?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'Name', sort: 'name' },
  { title: 'Id', sort: 'id', figures: true },
  { title: 'Short name', sort: 'short' },
  { title: 'Supported' },
  { title: 'Monitored' },
  { title: 'Full', sort: 'full', figures: true },
  { title: 'Partial', sort: 'partial', figures: true },
  { title: 'Share of full', sort: 'share', figures: true },
  { title: 'Last verified', sort: 'last', figures: true },
  { title: 'Health', sort: 'health', figures: true },
];

/** What a link needs to show another query, by itself and at once where scripts run. */
interface QueryLinks {
  readonly query: ChainQuery;
  readonly context: PageContext;
  readonly change: ChangeQuery | undefined;
}

/** The table of chains with the links to its other pages. */
export function ChainTable({
  rows,
  page,
  pages,
  isBusy,
  now,
  ...links
}: QueryLinks & {
  readonly rows: readonly ChainRow[];
  readonly page: number;
  readonly pages: number;
  /** Whether other rows are about to come. */
  readonly isBusy: boolean;
  /** Ages are counted up to this moment. */
  readonly now: string;
}): VNode {
  const { query, context } = links;
  const { base } = context;
  const renderRow = useMemo(() => {
    // An unchanged row gets the same node again, which Preact does not compare.
    const made = new WeakMap<ChainRow, VNode>();
    return (row: ChainRow): VNode => {
      const node = made.get(row) ?? <Row key={row.chainId} row={row} base={base} now={now} />;
      made.set(row, node);
      return node;
    };
  }, [base, now]);
  return (
    <>
      <TableRegion label="Chains">
        <table class="chains" aria-busy={isBusy}>
          <caption class="unseen">Chains, and the contracts that are verified on them</caption>
          <thead>
            <tr>
              {COLUMNS.map((column) => (
                <HeadCell key={column.title} column={column} {...links} />
              ))}
            </tr>
          </thead>
          <tbody>{rows.map(renderRow)}</tbody>
        </table>
      </TableRegion>
      {pages > 1 && (
        <nav class="pager" aria-label="Pages of the table">
          {page > 1 && (
            <QueryLink {...links} to={{ ...query, page: page - 1 }}>
              Previous
            </QueryLink>
          )}
          <span>
            Page {page} of {pages}
          </span>
          {page < pages && (
            <QueryLink {...links} to={{ ...query, page: page + 1 }}>
              Next
            </QueryLink>
          )}
        </nav>
      )}
    </>
  );
}

function HeadCell({ column, ...links }: QueryLinks & { readonly column: Column }): VNode {
  const { title, sort, figures = false } = column;
  const className = figures ? 'figure' : undefined;
  if (sort === undefined) {
    return (
      <th scope="col" class={className}>
        {title}
      </th>
    );
  }
  const { query } = links;
  const sorted = query.sort === sort;
  // Ids are names more than figures: they begin with the smallest.
  const first = figures && sort !== 'id';
  const descending = sorted ? !query.descending : first;
  const direction = query.descending ? 'descending' : 'ascending';
  return (
    <th scope="col" class={className} aria-sort={sorted ? direction : undefined}>
      <QueryLink {...links} to={{ ...query, sort, descending, page: 1 }}>
        {title}
      </QueryLink>
      {sorted && (
        <span class="direction" aria-hidden="true">
          {query.descending ? '▼' : '▲'}
        </span>
      )}
    </th>
  );
}

function QueryLink({
  context,
  change,
  to,
  children,
}: Omit<QueryLinks, 'query'> & { readonly to: ChainQuery; readonly children: string }): VNode {
  const text = formatChainQuery(to);
  return (
    <a
      href={`${context.base}registry${text === '' ? '' : `?${text}`}`}
      onClick={(event) => {
        const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
        if (change === undefined || !plain) return;
        event.preventDefault();
        change(to, 'chosen');
      }}
    >
      {children}
    </a>
  );
}

function Row({
  row,
  base,
  now,
}: {
  readonly row: ChainRow;
  readonly base: string;
  readonly now: string;
}): VNode {
  const { chainId, full, partial, lastVerifiedAt, health } = row;
  return (
    <tr>
      <th scope="row">
        <a href={`${base}registry/${chainId}`}>
          <bdi>{row.name}</bdi>
        </a>
        <RowTags row={row} />
      </th>
      <td class="figure">{chainId}</td>
      <td>
        <bdi>{row.shortName}</bdi>
      </td>
      <td>{row.supported ? 'yes' : <span class="quiet">no</span>}</td>
      <td>{row.monitored ? 'yes' : <span class="quiet">no</span>}</td>
      <td class="figure">
        <Count value={full} />
      </td>
      <td class="figure">
        <Count value={partial} />
      </td>
      <td class="figure">
        <ShareBar full={full ?? 0} partial={partial ?? 0} />
      </td>
      <td class="figure">
        {typeof lastVerifiedAt !== 'string' ? (
          <span class="quiet">–</span>
        ) : (
          <time dateTime={lastVerifiedAt} title={formatTime(lastVerifiedAt)}>
            {formatAgo(lastVerifiedAt, now)}
          </time>
        )}
      </td>
      <td class="figure">
        {health === undefined ? <span class="quiet">–</span> : <HealthMark state={health} />}
      </td>
    </tr>
  );
}

function Count({ value }: { readonly value: number | undefined }): VNode {
  if (value === undefined) return <span class="quiet">?</span>;
  return value === 0 ? <span class="quiet">0</span> : <>{formatCount(value)}</>;
}

function RowTags({ row }: { readonly row: ChainRow }): VNode | null {
  const { status, testnet, warnings } = row;
  const isUsual = status === undefined || status === 'active';
  if (isUsual && !testnet && warnings.length === 0) return null;
  return (
    <span class="tags">
      {testnet && <span class="tag">testnet</span>}
      {!isUsual && <span class="tag">{status}</span>}
      {warnings.length > 0 && (
        <span class="tag warning" title={warnings.join(', ')}>
          {warnings.length === 1 ? 'warning' : `${warnings.length} warnings`}
        </span>
      )}
    </span>
  );
}
