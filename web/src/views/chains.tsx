import { type VNode } from 'preact';
import { type Api, createApi, type Loaded } from '../api.ts';
import { ChainFilters } from '../chains/chain-filters.tsx';
import {
  type ChainQuery,
  type ChainRow,
  FACETS,
  formatChainQuery,
  NO_QUERY,
  parseChainQuery,
} from '../chains/chain-query.ts';
import { ChainTable } from '../chains/chain-table.tsx';
import { DidYouMean } from '../chains/did-you-mean.tsx';
import {
  type ChainFilter,
  type ChainIndex,
  type FacetCounts,
  filterChains,
  findFilters,
  pageOf,
} from '../chains/filter-chains.ts';
import { nearestChains } from '../chains/nearest-chains.ts';
import { readChains, type ReadChains } from '../chains/read-chains.ts';
import { readPublicRpc, saveAsCsv, saveAsJson } from '../chains/save-chains.ts';
import { useChainQuery } from '../chains/use-chain-query.ts';
import { useChains } from '../chains/use-chains.ts';
import { formatCount, formatTime } from '../format.ts';
import { definePage, onlyInTheService, type ViewProps } from '../page.ts';
import { Downloads } from '../parts/downloads.tsx';
import { Failure, StaleCounts } from '../parts/notices.tsx';
import { type Health, type RegistryLine } from '../answers.ts';
import { useNow } from '../use-now.ts';
import './chains.css';

/** Content of the table for one query: the rows of a page, and counts for the rest. */
interface ShownChains {
  readonly total: number;
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
  readonly rows: readonly ChainRow[];
  readonly facets: FacetCounts;
  /** Whether any chain has contracts; true if unknown. */
  readonly hasCounts: boolean;
  /** Whether any chain has claims, which other services report. */
  readonly withClaims: boolean;
  /** Suggestions if there are no rows. */
  readonly nearest: readonly RegistryLine[];
}

interface ChainsData {
  readonly shown: Loaded<ShownChains>;
  /** Filters of the table. */
  readonly filters: readonly ChainFilter[];
  readonly counts: ReadChains['counts'];
  readonly health: Loaded<Health>;
}

/** All chains in the registry. */
export const page = definePage<ChainsData>({
  section: 'chains',
  title: () => 'Chains',
  load: import.meta.env.SSR ? load : onlyInTheService,
  status: ({ shown }) => (shown.state === 'failed' ? 503 : 200),
  View: ChainsView,
});

async function load(api: Api, { query }: { readonly query: string }): Promise<ChainsData> {
  const [{ index, counts }, health] = await Promise.all([
    readChains(api),
    api.get<Health>('health'),
  ]);
  if (index.state === 'failed') return { shown: index, filters: [], counts, health };
  const { shown } = showChains(index.value, parseChainQuery(query));
  const filters = findFilters(index.value);
  return { shown: { ...index, value: shown }, filters, counts, health };
}

function showChains(
  index: ChainIndex,
  query: ChainQuery,
): { readonly shown: ShownChains; readonly found: readonly ChainRow[] } {
  const { rows: found, facets } = filterChains(index, query);
  const isLost = found.length === 0 && query.words !== '';
  const lines = index.map(({ row }) => row);
  const nearest = isLost ? nearestChains(lines, query.words) : [];
  const hasCounts = index.some(({ row }) => FACETS.contracts.valueOf(row) !== 'no');
  const withClaims = index.some(({ row: { claimed = 0 } }) => claimed > 0);
  const shown = {
    ...{ total: index.length, matching: found.length },
    ...{ facets, hasCounts, withClaims, nearest },
  };
  return { found, shown: { ...shown, ...pageOf(found, query.page) } };
}

/** Relative times of hours and days stay correct for a minute. */
const AGES_MS = 60_000;

function ChainsView({ data, request, context }: ViewProps<ChainsData>): VNode {
  const [query, change] = useChainQuery(request.query);
  const read = useChains(context.base);
  const now = useNow(context.now, AGES_MS);
  const { shown: first, health } = data;
  if (first.state === 'failed') {
    return (
      <>
        <h1>Chains</h1>
        <Failure what="The chain registry" loaded={first} />
      </>
    );
  }
  const readRpc = () => readPublicRpc(createApi((path) => fetch(`${context.base}${path}`)));
  const isLive = read?.index.state === 'ready';
  /** Whether the selected query is not shown yet. */
  const isWaiting =
    read === undefined &&
    formatChainQuery(query) !== formatChainQuery(parseChainQuery(request.query));
  const { shown, found } =
    read?.index.state === 'ready'
      ? showChains(read.index.value, query)
      : { shown: first.value, found: first.value.rows };
  // While a failure lasts, the page's data has its earlier start.
  const isStillFailing = data.counts.state === 'failed' && read?.counts.state === 'failed';
  const counts = isLive && !isStillFailing ? read.counts : data.counts;
  return (
    <>
      <h1>Chains</h1>
      <p class="lead">
        {counts.state === 'ready' && shown.total > 0 && (
          <>
            Counts of verified contracts were updated{' '}
            <time dateTime={counts.value.asOf}>{formatTime(counts.value.asOf)}</time>.{' '}
          </>
        )}
        A chain is supported when contracts can be verified on it.
        {shown.withClaims && ' Claims are reported by other services and not checked here.'}
      </p>
      {counts.state === 'failed' && <Failure what="The counts" loaded={counts} />}
      <StaleCounts health={health} now={now} />
      <ChainFilters
        query={query}
        facets={shown.facets}
        filters={data.filters}
        withCounts={counts.state === 'ready'}
        live={isLive}
        action={`${context.base}registry`}
        change={change}
      />
      <div class="result-line">
        <p role="status">
          Showing {formatCount(shown.matching)} of {formatCount(shown.total)}
          {shown.pages > 1 && `, page ${shown.page} of ${shown.pages}`}
          {isWaiting && <span class="quiet"> · reading all chains</span>}
        </p>
        {isLive && shown.matching > 0 && (
          <Downloads
            name="chains"
            makeCsv={async () => saveAsCsv(found, await readRpc())}
            makeJson={async () => saveAsJson(found, await readRpc())}
          />
        )}
      </div>
      {read?.index.state === 'failed' && (
        <Failure what="The complete list" loaded={read.index}>
          Search still works: it queries the service.
        </Failure>
      )}
      {shown.matching === 0 ? (
        <NoChains query={query} {...shown} base={context.base} />
      ) : (
        <ChainTable
          {...shown}
          query={query}
          context={context}
          now={now}
          isBusy={isWaiting}
          change={isLive ? change : undefined}
        />
      )}
    </>
  );
}

function NoChains({
  query,
  total,
  nearest,
  base,
}: {
  readonly query: ChainQuery;
  readonly total: number;
  readonly nearest: readonly RegistryLine[];
  readonly base: string;
}): VNode {
  if (total === 0) {
    return (
      <p class="notice">
        The registry has no chain. <code>registry.include</code> and <code>chains</code> of the
        configuration select the chains.
      </p>
    );
  }
  const { words, facets } = query;
  const isFiltered = Object.keys(facets).length > 0;
  const wordsOnly = formatChainQuery({ ...NO_QUERY, words });
  return (
    <div class="notice">
      <p>
        No chain matches {words !== '' && <>“{words}”</>}
        {words !== '' && isFiltered && ' and '}
        {isFiltered && 'the chosen filters'}. Search by name, short name, currency, or an id such as{' '}
        <code>1</code>, <code>0x1</code> or <code>eip155:1</code>.
      </p>
      <DidYouMean chains={nearest} base={base} />
      <p class="actions">
        {words !== '' && isFiltered && (
          <a class="button" href={`${base}registry?${wordsOnly}`}>
            Search without filters
          </a>
        )}{' '}
        <a class="button" href={`${base}registry`}>
          Show all {formatCount(total)}
        </a>
      </p>
    </div>
  );
}
