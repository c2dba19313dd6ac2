import { type VNode } from 'preact';
import { type Api, type Loaded } from '../api.ts';
import { formatCount, formatSpan, formatTime } from '../format.ts';
import { Figures, type Totals } from '../overview/figures.tsx';
import { Latest } from '../overview/latest.tsx';
import { StateOfService } from '../overview/state-of-service.tsx';
import { useLiveMatches } from '../overview/use-live.ts';
import { definePage, type PageContext, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import { Trend } from '../parts/trend.tsx';
import {
  type ContractPage,
  type Health,
  type ListedContract,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../shapes.ts';
import './overview.css';

interface OverviewData {
  readonly totals: Loaded<Totals>;
  readonly history: Loaded<StatisticsHistory>;
  readonly latest: Loaded<readonly ListedContract[]>;
  readonly health: Loaded<Health>;
}

/** What this service holds, at a glance. */
export const page = definePage<OverviewData>({
  section: 'overview',
  title: () => 'Fullmatch',
  load,
  View: OverviewView,
});

async function load(api: Api): Promise<OverviewData> {
  const [statistics, history, contracts, health] = await Promise.all([
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<StatisticsHistory>('v1/statistics/history'),
    api.get<ContractPage>('v1/contracts?limit=10'),
    api.get<Health>('health'),
  ]);
  const names = namesOf(statistics.state === 'ready' ? statistics.value : undefined);
  return {
    totals:
      statistics.state === 'failed'
        ? statistics
        : { ...statistics, value: totalsOf(statistics.value) },
    history,
    latest:
      contracts.state === 'failed'
        ? contracts
        : {
            ...contracts,
            value: contracts.value.results.map((item) => ({
              key: `contract ${item.chainId} ${item.address}`,
              kind: 'stored',
              chainId: item.chainId,
              chainName: names.get(item.chainId),
              address: item.address,
              match: item.match,
              name: item.name,
              at: item.verifiedAt,
            })),
          },
    health,
  };
}

function namesOf(statistics: StatisticsOverview | undefined): ReadonlyMap<number, string> {
  return new Map(statistics?.chains.map(({ chainId, name }) => [chainId, name]));
}

function totalsOf({ asOf, eventNumber, totals, changes }: StatisticsOverview): Totals {
  return { asOf, eventNumber, totals, changes };
}

function OverviewView({ data, context }: ViewProps<OverviewData>): VNode {
  const live = useLiveMatches(context.base);
  const { history, latest, health } = data;
  const totals: OverviewData['totals'] = live.statistics
    ? { state: 'ready', value: totalsOf(live.statistics), readAt: context.now }
    : data.totals;
  const names = namesOf(live.statistics);
  const came = live.contracts.map((each) => ({ ...each, chainName: names.get(each.chainId) }));
  const isEmpty =
    totals.state === 'ready' && totals.value.totals.full + totals.value.totals.partial === 0;
  return (
    <>
      <h1>Verified contracts</h1>
      <p class="lead">Contracts whose sources compile to the code that runs on chain.</p>
      {totals.state === 'ready' ? (
        <Figures totals={totals.value} />
      ) : (
        <LastKnown failed={totals} health={health} />
      )}
      {health.state === 'ready' && <Age health={health.value} />}
      {isEmpty && <FirstSteps context={context} />}
      {!isEmpty && (
        <section aria-labelledby="trend">
          <h2 id="trend">The last 90 days</h2>
          {history.state === 'ready' ? (
            <Trend history={history.value} fileName="verified-contracts" />
          ) : (
            <Failure what="The history" loaded={history} />
          )}
          <p>
            <a href={`${context.base}statistics`}>All statistics</a>
          </p>
        </section>
      )}
      {(!isEmpty || came.length > 0) && (
        <section aria-labelledby="latest">
          <h2 id="latest">Latest verifications</h2>
          {latest.state === 'ready' ? (
            <Latest
              contracts={latest.value}
              live={{ ...live, contracts: came }}
              context={context}
            />
          ) : (
            <Failure what="The latest verifications" loaded={latest} />
          )}
          <p>
            <a href={`${context.base}contracts`}>All contracts</a>
          </p>
        </section>
      )}
      <section aria-labelledby="service">
        <h2 id="service">This service</h2>
        {health.state === 'ready' ? (
          <StateOfService health={health.value} base={context.base} />
        ) : (
          <Failure what="The state of the service" loaded={health} />
        )}
      </section>
      <Documents context={context} />
    </>
  );
}

/** Where the statistics cannot be read, the counts of the health report stand in. */
function LastKnown({
  failed,
  health,
}: {
  readonly failed: Extract<Loaded<Totals>, { state: 'failed' }>;
  readonly health: Loaded<Health>;
}): VNode {
  const counts = health.state === 'ready' ? health.value.statistics : undefined;
  return (
    <>
      <Failure what="The statistics" loaded={failed} />
      {counts !== undefined && (
        <>
          <dl class="figures">
            <div>
              <dt>Full matches</dt>
              <dd>{formatCount(counts.full)}</dd>
            </div>
            <div>
              <dt>Partial matches</dt>
              <dd>{formatCount(counts.partial)}</dd>
            </div>
          </dl>
          <p class="quiet as-of">The last known counts, of {formatTime(counts.lastModified)}.</p>
        </>
      )}
    </>
  );
}

/** Counts are compared with the database every half second; what is much older is said. */
const FRESH_SECONDS = 15;

function Age({ health }: { readonly health: Health }): VNode | null {
  const age = health.statistics?.confirmedSecondsAgo ?? 0;
  if (age <= FRESH_SECONDS) return null;
  return (
    <p class="notice">
      The counts were last compared with the database {formatSpan(age)} ago and may be overtaken.
    </p>
  );
}

function FirstSteps({ context }: { readonly context: PageContext }): VNode {
  return (
    <div class="notice">
      <p>
        <strong>No contract has been verified here yet.</strong>
      </p>
      <ul>
        <li>
          <a href={`${context.base}verify`}>Verify a contract</a> with its sources.
        </li>
        <li>
          <code>fullmatch import &lt;tree&gt;</code> brings a published tree in.
        </li>
        <li>
          <a href={`${context.base}registry`}>Look at the chains</a> that the service knows.
        </li>
      </ul>
    </div>
  );
}

function Documents({ context }: { readonly context: PageContext }): VNode {
  const { base, repositoryUrl } = context;
  return (
    <section aria-labelledby="documents">
      <h2 id="documents">Documents</h2>
      <ul class="documents">
        <li>
          <a href={`${base}chains`}>/chains</a>: every chain that was added to the service
        </li>
        <li>
          {repositoryUrl === undefined ? (
            <>
              <code>/stats.json</code> is served by another process: the repository host is switched
              off here
            </>
          ) : (
            <>
              <a href={`${repositoryUrl}/stats.json`}>/stats.json</a>: verified contracts by chain,
              on the <a href={`${repositoryUrl}/`}>repository host</a>
            </>
          )}
        </li>
        <li>
          <a href={`${base}docs`}>/docs</a>: the HTTP interface;{' '}
          <a href={`${base}openapi.json`}>/openapi.json</a> describes it for programs
        </li>
        <li>
          <a href={`${base}health`}>/health</a>: what the service knows of its own state
        </li>
      </ul>
    </section>
  );
}
