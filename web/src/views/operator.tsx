import { type ComponentChildren, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi, type Loaded } from '../api.ts';
import { type OperatorState } from '../answers.ts';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { definePage, type PageContext, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { TableRegion } from '../parts/table-region.tsx';

/** State of the service for its operator, with actions. */
export const page = definePage<Loaded<OperatorState>>({
  title: () => 'Operator',
  load: (api) => api.get('state'),
  status: (state) => (state.state === 'ready' ? 200 : 503),
  View: OperatorView,
});

const EVERY_MS = 5_000;
const [MB, GB] = [1e6, 1e9];
const HOSTS = { api: 'the API host', repository: 'the repository host' } as const;
const SAID: Readonly<Record<string, string>> = {
  cancelled:
    'The job is being cancelled: immediately if it was waiting, within seconds if it is running.',
  retried: 'Contracts found on that chain are being retried.',
  queued: 'The failed jobs are queued again, as new jobs.',
  job_ended: 'That job has already ended.',
  job_not_found: 'There is no such job.',
};

/** The state as last read, while the page is open. */
function useFreshState(first: Loaded<OperatorState>): Loaded<OperatorState> {
  const [state, setState] = useState(first);
  useEffect(() => {
    const api = createApi((path) => fetch(path));
    const timer = setInterval(() => void api.get<OperatorState>('state').then(setState), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return state;
}

const sizeOf = (bytes: number): string =>
  bytes < GB ? `${Math.ceil(bytes / MB)} MB` : `${(bytes / GB).toFixed(1)} GB`;

function OperatorView({ data, request, context }: ViewProps<Loaded<OperatorState>>): VNode {
  const state = useFreshState(data);
  const message = SAID[new URLSearchParams(request.query).get('said') ?? ''];
  return (
    <>
      <h1>Operator</h1>
      {message !== undefined && (
        <p class="notice" role="status">
          {message}
        </p>
      )}
      {state.state === 'failed' ? (
        <Failure what="The state of the service" loaded={state} />
      ) : (
        <State state={state.value} context={{ ...context, now: state.readAt }} />
      )}
    </>
  );
}

interface Props {
  readonly state: OperatorState;
  readonly context: PageContext;
}

function State({ state, context }: Props): VNode {
  return (
    <>
      <Overview {...state} context={context} />
      <Jobs state={state} context={context} />
      <Failures state={state} context={context} />
      <Chains {...state} />
      <Monitors {...state} />
      <Feed {...state} />
    </>
  );
}

function Overview({
  health,
  roles,
  disk,
  databaseBytes,
  context,
}: OperatorState & Pick<Props, 'context'>): VNode {
  const { registry, queue, compilers, statistics } = health;
  const figures: readonly (readonly [string, string | undefined])[] = [
    ['Waiting jobs', queue && formatCount(queue.queued)],
    ['Running jobs', queue && formatCount(queue.running)],
    ['Busy compilers', compilers && formatCount(compilers.running)],
    ['Free disk space', disk && sizeOf(disk.freeBytes)],
    ['Database', sizeOf(databaseBytes)],
    ['Contracts', statistics && formatCount(statistics.full + statistics.partial)],
  ];
  const does = [
    `serves ${roles.hosts.map((host) => HOSTS[host]).join(' and ')}`,
    ...(roles.workers > 0 ? [`runs up to ${roles.workers} verifications at once`] : []),
    ...(roles.monitor ? ['follows chains'] : []),
  ];
  return (
    <section aria-labelledby="condition">
      <h2 id="condition">{health.status === 'ok' ? 'Everything is fine' : 'Problems'}</h2>
      {health.reasons.length > 0 && (
        <ul>
          {health.reasons.map(({ code, detail, since }) => (
            <li key={code}>
              <SafeText text={detail} /> <code>{code}</code>
              {since !== undefined && <> since {formatTime(since)}</>}
            </li>
          ))}
        </ul>
      )}
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? 'unknown'}</dd>
          </div>
        ))}
      </dl>
      <p>
        This process {new Intl.ListFormat('en').format(does)}. Its database is{' '}
        {roles.database === 'embedded' ? 'embedded' : 'an external server'}.
        {registry !== undefined && (
          <>
            {' '}
            The chain list is{' '}
            {registry.source === 'embedded' ? (
              'the embedded one'
            ) : (
              <SafeText text={registry.source} />
            )}
            {registry.listDate !== undefined && <> of {formatTime(registry.listDate)}</>}
            {registry.stale && ', and no newer one can be fetched'}.
          </>
        )}{' '}
        <span class="quiet">Read {formatTime(context.now)}.</span>
      </p>
    </section>
  );
}

/** A table with a heading, or a sentence if it is empty. */
function Listed({
  id,
  title,
  heads,
  none,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly heads: readonly string[];
  /** Text for an empty table. */
  readonly none: string;
  readonly children: readonly ComponentChildren[];
}): VNode {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children.length === 0 ? (
        <p>{none}</p>
      ) : (
        <TableRegion label={title}>
          <table>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </TableRegion>
      )}
    </section>
  );
}

/** Link to a job's page, if the API host is enabled. */
function JobLink({ id, site }: { readonly id: string; readonly site: string | undefined }): VNode {
  const text = <code>{id.slice(0, 8)}</code>;
  return site === undefined ? text : <a href={`${site}job/${id}`}>{text}</a>;
}

function Jobs({ state: { jobs }, context: { site, now } }: Props): VNode {
  return (
    <Listed
      id="jobs"
      title="Jobs in flight"
      heads={['Job', 'State', 'Chain', 'Address', 'Sent', 'Action']}
      none="No jobs are waiting or running."
    >
      {jobs.map(({ id, state, chainId, address, createdAt }) => (
        <tr key={id}>
          <td>
            <JobLink id={id} site={site} />
          </td>
          <td>{state}</td>
          <td>{chainId}</td>
          <td>
            <code>{address}</code>
          </td>
          <td>{formatAgo(createdAt, now)}</td>
          <td>
            <form method="post" action={`jobs/${id}/cancel`}>
              <button type="submit" aria-label={`Cancel the job ${id.slice(0, 8)}`}>
                Cancel
              </button>
            </form>
          </td>
        </tr>
      ))}
    </Listed>
  );
}

function Failures({ state: { failures }, context: { site, now } }: Props): VNode {
  return (
    <Listed
      id="failures"
      title="Failures of the last 24 hours"
      heads={['Reason', 'Jobs', 'Last', 'Action']}
      none="No failed jobs."
    >
      {failures.map(({ code, jobs, retriable, lastJob, lastAt }) => (
        <tr key={code}>
          <td>
            <code>{code}</code>
          </td>
          <td class="number">{formatCount(jobs)}</td>
          <td>
            <JobLink id={lastJob} site={site} /> {formatAgo(lastAt, now)}
          </td>
          <td>
            {retriable > 0 && (
              <form method="post" action={`failures/${code}/retry`}>
                <button type="submit" aria-label={`Retry ${retriable} that failed with ${code}`}>
                  Retry {formatCount(retriable)}
                </button>
              </form>
            )}
          </td>
        </tr>
      ))}
    </Listed>
  );
}

function Chains({ chains }: OperatorState): VNode {
  return (
    <Listed
      id="chains"
      title="Endpoints of configured chains"
      heads={['Chain', 'State', 'Endpoints up', 'Why']}
      none="No chains are probed: add some under chains in the configuration."
    >
      {chains.map(({ chainId, name, state, endpoints, up, reason }) => (
        <tr key={chainId}>
          <td>
            <SafeText text={name} /> <span class="quiet">{chainId}</span>
          </td>
          <td>{state}</td>
          <td>
            {up} of {endpoints}
          </td>
          <td>{reason !== undefined && <SafeText text={reason} />}</td>
        </tr>
      ))}
    </Listed>
  );
}

function Monitors({ monitors }: OperatorState): VNode {
  return (
    <Listed
      id="monitors"
      title="Monitors"
      heads={['Chain', 'Status', 'Blocks behind', 'Found', 'Waiting', 'Given up', 'Action']}
      none="No chain is monitored."
    >
      {monitors.map(({ chainId, name, status, lagBlocks, found, waiting, givenUp }) => (
        <tr key={chainId}>
          <td>
            <SafeText text={name} /> <span class="quiet">{chainId}</span>
          </td>
          <td>{status}</td>
          <td class="number">{formatCount(lagBlocks)}</td>
          <td class="number">{formatCount(found)}</td>
          <td class="number">{formatCount(waiting)}</td>
          <td class="number">{formatCount(givenUp)}</td>
          <td>
            <form method="post" action={`monitors/${chainId}/retry`}>
              <button type="submit" aria-label={`Retry contracts found on chain ${chainId}`}>
                Retry
              </button>
            </form>
          </td>
        </tr>
      ))}
    </Listed>
  );
}

function Feed({ feed }: OperatorState): VNode {
  return (
    <Listed
      id="feed"
      title="Followers of the event feed"
      heads={['Table', 'Events behind']}
      none="Nothing follows the feed."
    >
      {feed.map(({ name, behind }) => (
        <tr key={name}>
          <td>{name.replaceAll('_', ' ')}</td>
          <td class="number">{formatCount(behind)}</td>
        </tr>
      ))}
    </Listed>
  );
}
