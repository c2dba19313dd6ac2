import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatCount, formatTime } from '../format.ts';
import { Figures } from '../overview/figures.tsx';
import { Latest } from '../overview/latest.tsx';
import { loadOverview, type OverviewData, type Totals } from '../overview/overview-data.ts';
import { StateOfService } from '../overview/state-of-service.tsx';
import { useLive } from '../overview/use-live.ts';
import { definePage, type PageContext, type ViewProps } from '../page.ts';
import { Failure, StaleCounts } from '../parts/notices.tsx';
import { Trend } from '../parts/trend.tsx';
import { type Health } from '../answers.ts';
import { useNow } from '../use-now.ts';
import './overview.css';

/** What this service holds, at a glance. */
export const page = definePage<OverviewData>({
  section: 'overview',
  title: () => 'Fullmatch',
  load: loadOverview,
  View: OverviewView,
});

const AGES_MS = 5000;

function OverviewView({ data, context }: ViewProps<OverviewData>): VNode {
  const live = useLive(context.base);
  const now = useNow(context.now, AGES_MS);
  const { totals, history } = live.counts ?? data;
  const { latest } = data;
  const health = live.health ?? data.health;
  const came = live.contracts.map((each) => ({ ...each, chainName: live.names.get(each.chainId) }));
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
      <StaleCounts health={health} now={now} />
      {isEmpty && <FirstSteps context={context} isLive={live.state === 'live'} />}
      {!isEmpty && (
        <section aria-labelledby="trend">
          <h2 id="trend">The last 90 days</h2>
          {history.state === 'ready' ? (
            <Trend history={history.value} fileName="verified-contracts" base={context.base} />
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
              context={{ ...context, now }}
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

function FirstSteps({
  context,
  isLive,
}: {
  readonly context: PageContext;
  readonly isLive: boolean;
}): VNode {
  return (
    <div class="notice">
      <p>
        <strong>No contract has been verified here yet.</strong>
        {isLive && ' The first one appears here by itself.'}
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
          <a href={`${base}docs`}>/docs</a>: the API;{' '}
          <a href={`${base}openapi.json`}>/openapi.json</a> describes it for programs
        </li>
        <li>
          <a href={`${base}health`}>/health</a>: what the service knows of its own state
        </li>
      </ul>
    </section>
  );
}
