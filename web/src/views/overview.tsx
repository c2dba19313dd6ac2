import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { allOf } from '../counts-apart.ts';
import { formatCount, formatTime } from '../format.ts';
import { Figures } from '../overview/figures.tsx';
import { LargestChains } from '../overview/largest-chains.tsx';
import { Latest } from '../overview/latest.tsx';
import { loadOverview, type OverviewData, type Totals } from '../overview/overview-data.ts';
import { StateOfService } from '../overview/state-of-service.tsx';
import { useLive } from '../overview/use-live.ts';
import { definePage, onlyInTheService, type PageContext, type ViewProps } from '../page.ts';
import { Failure, StaleCounts } from '../parts/notices.tsx';
import { SiteSearch } from '../parts/site-search.tsx';
import { Trend } from '../parts/trend.tsx';
import { type Health } from '../answers.ts';
import { useNow } from '../use-now.ts';
import './overview.css';

/** Overview of the service's contents. */
export const page = definePage<OverviewData>({
  isShared: true,
  section: 'overview',
  hasSearch: true,
  title: () => '',
  load: import.meta.env.SSR ? loadOverview : onlyInTheService,
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
  const isEmpty = totals.state === 'ready' && allOf(totals.value.totals) === 0;
  return (
    <>
      <div class="hero">
        <h1>Is this contract what its source says?</h1>
        <p class="lead">
          Sources are compiled here and compared with the code on chain byte for byte.
        </p>
        <SiteSearch site={context.base} isOwnHost words="" isLarge />
        <p>
          <a href={`${context.base}verify`}>Verify a contract</a> ·{' '}
          <a href={`${context.base}counts`}>What a match proves</a>
        </p>
      </div>
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
        <div class="beside">
          <section aria-labelledby="latest">
            <h2 id="latest">Latest contracts</h2>
            {latest.state === 'ready' ? (
              <Latest
                contracts={latest.value}
                live={{ ...live, contracts: came }}
                context={{ ...context, now }}
              />
            ) : (
              <Failure what="The latest contracts" loaded={latest} />
            )}
            <p>
              <a href={`${context.base}contracts`}>All contracts</a>
            </p>
          </section>
          {totals.state === 'ready' && totals.value.chains.length > 0 && (
            <section aria-labelledby="largest">
              <h2 id="largest">Chains with most contracts</h2>
              <LargestChains
                chains={totals.value.chains}
                withIcon={data.withIcon}
                base={context.base}
              />
              <p>
                <a href={`${context.base}registry`}>All chains</a>
              </p>
            </section>
          )}
        </div>
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

/** If the statistics cannot be read, the counts of the health report replace them. */
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
          <p class="quiet as-of">
            The last known counts, from {formatTime(counts.lastModified)}, including claims of other
            services.
          </p>
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
    <section aria-labelledby="first">
      <h2 id="first">No contract has been verified here yet</h2>
      <p>{isLive ? 'The first one will appear here automatically.' : 'Get started:'}</p>
      <ul class="ways">
        <li>
          <h3>
            <a href={`${context.base}verify`}>Verify your first contract</a>
          </h3>
          <p>Submit its sources as files, text, or a Foundry or Hardhat project.</p>
        </li>
        <li>
          <h3>Try it with a demonstration</h3>
          <p>
            <code>npx fullmatch demo</code> deploys about 50 contracts to a local chain and verifies
            them. It takes two minutes.
          </p>
        </li>
        <li>
          <h3>Import a repository</h3>
          <p>
            <code>npx fullmatch import &lt;tree&gt;</code> imports what another service published,
            as claims that you can check.
          </p>
        </li>
      </ul>
    </section>
  );
}

function Documents({ context }: { readonly context: PageContext }): VNode {
  const { base, repositoryUrl } = context;
  return (
    <section aria-labelledby="documents">
      <h2 id="documents">Documents</h2>
      <ul class="documents">
        <li>
          <a href={`${base}chains`}>/chains</a>: every chain of the service
        </li>
        <li>
          {repositoryUrl === undefined ? (
            <>
              <code>/stats.json</code> is served by another process; the repository host is switched
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
          <a href={`${base}openapi.json`}>/openapi.json</a> is its machine-readable description
        </li>
        <li>
          <a href={`${base}health`}>/health</a>: the state of the service
        </li>
      </ul>
    </section>
  );
}
