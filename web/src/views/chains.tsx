import { type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { ChainFilters } from '../chains/chain-filters.tsx';
import { type ChainQuery, type ChainRow, parseChainQuery } from '../chains/chain-query.ts';
import { ChainTable } from '../chains/chain-table.tsx';
import {
  type ChainIndex,
  type FacetCounts,
  filterChains,
  indexChains,
  joinChains,
  pageOf,
} from '../chains/filter-chains.ts';
import { saveAsCsv, saveAsJson } from '../chains/save-chains.ts';
import { useChainQuery } from '../chains/use-chain-query.ts';
import { useChainRows } from '../chains/use-chain-rows.ts';
import { formatCount, formatTime } from '../format.ts';
import { definePage, type ViewProps } from '../page.ts';
import { DownloadButton } from '../parts/download-button.tsx';
import { Failure } from '../parts/notices.tsx';
import { type RegistryOverview, type StatisticsOverview } from '../shapes.ts';
import './chains.css';

/** What the table shows of one query: the rows of a page, and figures of the rest. */
interface ShownChains {
  readonly total: number;
  readonly matching: number;
  readonly page: number;
  readonly pages: number;
  readonly rows: readonly ChainRow[];
  readonly facets: FacetCounts;
}

interface ChainsData {
  readonly shown: Loaded<ShownChains>;
  /** When the counts are true; the table stands without them. */
  readonly counts: Loaded<{ readonly asOf: string }>;
}

/** Every chain that the service knows. */
export const page = definePage<ChainsData>({
  section: 'chains',
  title: () => 'Chains · Fullmatch',
  load,
  status: ({ shown }) => (shown.state === 'failed' ? 503 : 200),
  View: ChainsView,
});

async function load(api: Api, { query }: { readonly query: string }): Promise<ChainsData> {
  const [registry, statistics] = await Promise.all([
    api.get<RegistryOverview>('v1/registry'),
    api.get<StatisticsOverview>('v1/statistics'),
  ]);
  const counts: ChainsData['counts'] =
    statistics.state === 'failed'
      ? statistics
      : { ...statistics, value: { asOf: statistics.value.asOf } };
  if (registry.state === 'failed') return { shown: registry, counts };
  const chains = statistics.state === 'ready' ? statistics.value.chains : [];
  const index = indexChains(joinChains(registry.value.chains, chains));
  const { shown } = showChains(index, parseChainQuery(query));
  return { shown: { ...registry, value: shown }, counts };
}

function showChains(
  index: ChainIndex,
  query: ChainQuery,
): { readonly shown: ShownChains; readonly found: readonly ChainRow[] } {
  const { rows: found, facets } = filterChains(index, query);
  const page = pageOf(found, query.page);
  return { found, shown: { total: index.length, matching: found.length, ...page, facets } };
}

function ChainsView({ data, request, context }: ViewProps<ChainsData>): VNode {
  const [query, change] = useChainQuery(request.query);
  const live = useChainRows(context.base);
  const { shown: first, counts } = data;
  if (first.state === 'failed') {
    return (
      <>
        <h1>Chains</h1>
        <Failure what="The chain registry" loaded={first} />
      </>
    );
  }
  const result = live.index && showChains(live.index, query);
  const shown = result?.shown ?? first.value;
  const found = result?.found ?? shown.rows;
  return (
    <>
      <h1>Chains</h1>
      <p class="lead">
        {counts.state === 'ready' && shown.total > 0 && (
          <>
            Counts of verified contracts are true for{' '}
            <time dateTime={counts.value.asOf}>{formatTime(counts.value.asOf)}</time>.{' '}
          </>
        )}
        A chain is supported when contracts can be verified on it.
      </p>
      {counts.state === 'failed' && <Failure what="The counts" loaded={counts} />}
      <ChainFilters
        query={query}
        facets={shown.facets}
        live={live.index !== undefined}
        action={`${context.base}registry`}
        change={change}
      />
      <div class="result-line">
        <p role="status">
          Showing {formatCount(shown.matching)} of {formatCount(shown.total)}
          {shown.pages > 1 && `, page ${shown.page} of ${shown.pages}`}
        </p>
        {result !== undefined && shown.matching > 0 && (
          <p class="downloads">
            <DownloadButton name="chains.csv" type="text/csv" make={() => saveAsCsv(found)}>
              Download CSV
            </DownloadButton>{' '}
            <DownloadButton
              name="chains.json"
              type="application/json"
              make={() => saveAsJson(found)}
            >
              Download JSON
            </DownloadButton>
          </p>
        )}
      </div>
      {live.failed && (
        <p class="notice">
          The whole list could not be read for this page. Searching still works: it asks the service
          each time.
        </p>
      )}
      {shown.matching === 0 ? (
        <NoChains query={query} total={shown.total} base={context.base} />
      ) : (
        <ChainTable
          {...shown}
          query={query}
          context={context}
          withCounts={counts.state === 'ready'}
          change={live.index === undefined ? undefined : change}
        />
      )}
    </>
  );
}

function NoChains({
  query,
  total,
  base,
}: {
  readonly query: ChainQuery;
  readonly total: number;
  readonly base: string;
}): VNode {
  if (total === 0) {
    return (
      <p class="notice">
        The registry has no chain. <code>registry.include</code> and <code>chains</code> of the
        configuration say which there are.
      </p>
    );
  }
  return (
    <div class="notice">
      <p>
        No chain fits{query.words !== '' && <> “{query.words}” and the chosen filters</>}. Try fewer
        words, or a chain id such as <code>1</code>, <code>0x1</code> or <code>eip155:1</code>.
      </p>
      <p>
        <a class="button" href={`${base}registry`}>
          Show all {formatCount(total)}
        </a>
      </p>
    </div>
  );
}
