import { type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { CountsBar } from '../charts/counts-bar.tsx';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { type PageContext } from '../page.ts';
import { ChainIcon } from '../parts/chain-icon.tsx';
import { HealthMark, Share, ShareBar } from '../parts/marks.tsx';
import { TableRegion } from '../parts/table-region.tsx';
import { type ChainRow, type SortKey } from './chain-query.ts';
import { QueryLink, type QueryLinks } from './query-link.tsx';

interface Column {
  readonly title: string;
  readonly sort?: SortKey;
  /** Numeric columns sort descending first. */
  readonly figures?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'Name', sort: 'name' },
  { title: 'Id', sort: 'id', figures: true },
  { title: 'Verification' },
];
const CLAIMS: readonly Column[] = [
  { title: 'Claims', sort: 'claimed', figures: true },
  { title: 'Contracts' },
];
/** Empty in a service without contracts; claims have columns only if there are any. */
const countColumns = (withClaims: boolean): readonly Column[] => [
  { title: 'Full', sort: 'full', figures: true },
  { title: 'Partial', sort: 'partial', figures: true },
  ...(withClaims ? CLAIMS : []),
  { title: 'Share of full', sort: 'share', figures: true },
  { title: 'Last verified', sort: 'last', figures: true },
];
/** Only supported chains are probed. */
const HEALTH: Column = { title: 'RPC', sort: 'health', figures: true };

/** The table of chains, with links to its other pages. */
export function ChainTable({
  rows,
  page,
  pages,
  isBusy,
  now,
  hasCounts,
  withClaims,
  context,
  ...asked
}: Omit<QueryLinks, 'action'> & {
  readonly context: PageContext;
  /** Whether any chain of the service has contracts. */
  readonly hasCounts: boolean;
  /** Whether any chain of the service has claims. */
  readonly withClaims: boolean;
  readonly rows: readonly ChainRow[];
  readonly page: number;
  readonly pages: number;
  /** Whether new rows are being loaded. */
  readonly isBusy: boolean;
  /** Reference time of relative times. */
  readonly now: string;
}): VNode {
  const { query } = asked;
  const { base } = context;
  const links = { ...asked, action: `${base}registry` };
  const hasHealth = rows.some(({ health }) => health !== undefined) || query.sort === 'health';
  const hasIcons = rows.some(({ hasIcon }) => hasIcon === true);
  const columns = [
    ...COLUMNS,
    ...(hasCounts ? countColumns(withClaims) : []),
    ...(hasHealth ? [HEALTH] : []),
  ];
  const renderRow = useMemo(() => {
    // An unchanged row returns the same node, which Preact does not diff.
    const made = new WeakMap<ChainRow, VNode>();
    return (row: ChainRow): VNode => {
      const node = made.get(row) ?? (
        <Row
          key={row.chainId}
          {...{ row, base, now, hasCounts, withClaims, hasHealth, hasIcons }}
        />
      );
      made.set(row, node);
      return node;
    };
  }, [base, now, hasCounts, withClaims, hasHealth, hasIcons]);
  return (
    <>
      <TableRegion label="Chains">
        <table class="chains cards" role="table" aria-busy={isBusy}>
          <caption class="unseen">Chains, and their contracts</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <HeadCell key={column.title} column={column} {...links} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">{rows.map(renderRow)}</tbody>
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
      <th role="columnheader" scope="col" class={className}>
        {title}
      </th>
    );
  }
  const { query } = links;
  const sorted = query.sort === sort;
  // Ids are names rather than figures: they sort ascending first.
  const first = figures && sort !== 'id';
  const descending = sorted ? !query.descending : first;
  const direction = query.descending ? 'descending' : 'ascending';
  return (
    <th
      role="columnheader"
      scope="col"
      class={className}
      aria-sort={sorted ? direction : undefined}
    >
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

function Row({
  row,
  base,
  now,
  hasCounts,
  withClaims,
  hasHealth,
  hasIcons,
}: {
  readonly row: ChainRow;
  readonly base: string;
  readonly now: string;
  readonly hasCounts: boolean;
  readonly withClaims: boolean;
  readonly hasHealth: boolean;
  readonly hasIcons: boolean;
}): VNode {
  const { chainId, health } = row;
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <span>
          <ChainIcon {...{ chainId, base }} hasIcon={row.hasIcon === true} isAligned={hasIcons} />
          <a class="row-link" href={`${base}registry/${chainId}`}>
            <bdi>{row.name}</bdi>
          </a>
          {row.shortName !== undefined && (
            <>
              {' '}
              <bdi class="short">{row.shortName}</bdi>
            </>
          )}
          <RowTags row={row} />
        </span>
      </th>
      <td role="cell" data-label="Id" class="figure">
        {chainId}
      </td>
      <td role="cell" data-label="Verification">
        {row.supported ? (
          <span class="tag supported">supported</span>
        ) : (
          <span class="quiet">–</span>
        )}
      </td>
      {hasCounts && <CountCells {...{ row, now, withClaims }} />}
      {hasHealth && (
        <td role="cell" data-label="RPC" class="figure">
          {health === undefined ? <span class="quiet">–</span> : <HealthMark state={health} />}
        </td>
      )}
    </tr>
  );
}

function CountCells({
  row,
  now,
  withClaims,
}: {
  readonly row: ChainRow;
  readonly now: string;
  readonly withClaims: boolean;
}): VNode {
  const { full, partial, claimed, lastVerifiedAt } = row;
  const counts = { full: full ?? 0, partial: partial ?? 0, claimed: claimed ?? 0 };
  return (
    <>
      <td role="cell" data-label="Full" class="figure">
        <Count value={full} />
      </td>
      <td role="cell" data-label="Partial" class="figure">
        <Count value={partial} />
      </td>
      {withClaims && (
        <>
          <td role="cell" data-label="Claims" class="figure">
            <Count value={claimed} />
          </td>
          <td role="cell" data-label="Contracts">
            <CountsBar {...counts} />
          </td>
        </>
      )}
      <td role="cell" data-label="Share of full" class="figure">
        {/* Next to a bar with claims, a second one of the verified contracts alone would confuse. */}
        {withClaims ? <Share {...counts} /> : <ShareBar {...counts} />}
      </td>
      <td role="cell" data-label="Last verified" class="figure">
        {typeof lastVerifiedAt !== 'string' ? (
          <span class="quiet">–</span>
        ) : (
          <time dateTime={lastVerifiedAt} title={formatTime(lastVerifiedAt)}>
            {formatAgo(lastVerifiedAt, now)}
          </time>
        )}
      </td>
    </>
  );
}

function Count({ value }: { readonly value: number | undefined }): VNode {
  if (value === undefined) return <span class="quiet">?</span>;
  return value === 0 ? <span class="quiet">0</span> : <>{formatCount(value)}</>;
}

function RowTags({ row }: { readonly row: ChainRow }): VNode | null {
  const { status, testnet, warnings } = row;
  const isUsual = status === undefined || status === 'active';
  if (isUsual && !testnet && !row.monitored && warnings.length === 0) return null;
  return (
    <span class="tags">
      {testnet && <span class="tag">testnet</span>}
      {row.monitored && <span class="tag">monitored</span>}
      {!isUsual && <span class="tag">{status}</span>}
      {warnings.length > 0 && (
        <span class="tag warning" title={warnings.join(', ')}>
          {warnings.length === 1 ? 'warning' : `${warnings.length} warnings`}
        </span>
      )}
    </span>
  );
}
