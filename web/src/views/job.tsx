import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { describeChanges, formatChanges } from '../../../src/solidity/setting-changes.ts';
import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, createApi, type Loaded } from '../api.ts';
import { describeCodeMatch, VERDICTS } from '../contract/verdict.ts';
import { formatSpan } from '../format.ts';
import { definePage, documentTitle, type ViewProps } from '../page.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { JobFailureView } from '../verify/job-failure.tsx';
import { type JobState } from '../answers.ts';
import { isEnded } from '../verify/job-state.ts';
import { OwnJobActions } from '../verify/own-job-actions.tsx';
import { JobSteps } from '../verify/job-steps.tsx';
import './job.css';

interface JobData {
  readonly job: Loaded<JobState>;
  /** If known. */
  readonly chainName?: string;
}

/** Delays between polls: each is longer than the previous one. */
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 4000;
const WAIT_GROWTH = 1.3;

/** A verification job: its progress, then its outcome. */
export const page = definePage<JobData>({
  section: 'verify',
  title: ({ data: { job } }) => titleOf(job),
  load: async (api, { params }) => {
    const job = await readJob(api, params['id'] ?? '');
    if (job.state === 'failed') return { job };
    const chain = await api.get<{ record: { name: string } }>(`v1/chains/${job.value.chainId}`);
    return { job, ...(chain.state === 'ready' && { chainName: chain.value.record.name }) };
  },
  status: ({ job }) => {
    if (job.state === 'ready') return 200;
    return job.status === 404 ? 404 : 503;
  },
  View: JobView,
});

const titleOf = (job: Loaded<JobState>): string =>
  `Verification${job.state === 'ready' ? ` ${job.value.state}` : ''}`;

const readJob = (api: Api, id: string): Promise<Loaded<JobState>> =>
  api.get(`v1/jobs/${pathPart(id)}`);

/** Whether polling is pointless: the job has ended, or is unknown. */
const isFinal = (job: Loaded<JobState>): boolean =>
  job.state === 'ready' ? isEnded(job.value) : job.status === 404;

/** The job as last read, and the newest response if that failed. */
function useJob(
  first: Loaded<JobState>,
  id: string,
  base: string,
): [Loaded<JobState>, Loaded<JobState> | undefined] {
  const [job, setJob] = useState(first);
  const [newest, setNewest] = useState(first);
  useEffect(() => {
    if (isFinal(first)) return undefined;
    const api = createApi((path) => fetch(`${base}${path}`));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (waitMs: number): Promise<void> => {
      const answer = await readJob(api, id);
      if (isOver) return;
      setNewest(answer);
      if (answer.state === 'ready' || isFinal(answer)) {
        setJob(answer);
        document.title = documentTitle(titleOf(answer));
      }
      if (isFinal(answer)) return;
      const next = Math.min(waitMs * WAIT_GROWTH, LONGEST_WAIT_MS);
      timer = setTimeout(() => void ask(next), next);
    };
    timer = setTimeout(() => void ask(FIRST_WAIT_MS), FIRST_WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return [job, newest === job ? undefined : newest];
}

function JobView({ data, request: { params }, context }: ViewProps<JobData>): VNode {
  const { base, now } = context;
  const id = params['id'] ?? '';
  const [job, newest] = useJob(data.job, id, base);
  if (job.state === 'failed') {
    if (job.status === 404) return <UnknownJob id={id} base={base} />;
    return (
      <>
        <h1>Verification</h1>
        <JobFailed what="The verification" job={newest ?? job} />
      </>
    );
  }
  const { value } = job;
  const { chainId, address } = value;
  return (
    <>
      <h1>Verification</h1>
      <p>
        of{' '}
        <a href={`${base}contract/${chainId}/${address}`}>
          <code>{address}</code>
        </a>{' '}
        on{' '}
        <a href={`${base}registry/${chainId}`}>
          <SafeText text={data.chainName ?? `chain ${chainId}`} />
        </a>
      </p>
      {!isEnded(value) && <Elapsed since={value.createdAt} now={now} />}
      {newest !== undefined && <JobFailed what="Current state of the verification" job={newest} />}
      <div aria-live="polite">
        <JobSteps job={value} />
        {value.state === 'succeeded' && <Success job={value} base={base} />}
        {value.failure !== undefined && (
          <JobFailureView job={value} failure={value.failure} base={base} />
        )}
      </div>
      <OwnJobActions job={value} base={base} />
      {!isEnded(value) && (
        <noscript>
          <p>
            <a class="button" href="">
              Reload
            </a>
          </p>
        </noscript>
      )}
      <p class="quiet">
        Job <code>{value.id}</code>
      </p>
    </>
  );
}

function UnknownJob({ id, base }: { readonly id: string; readonly base: string }): VNode {
  return (
    <>
      <h1>No such job</h1>
      <p>
        There is no job with the id{' '}
        <code>
          <SafeText text={id} />
        </code>
        . Jobs are deleted after 30 days. Verified contracts are kept.
      </p>
      <p>
        <a class="button" href={`${base}verify`}>
          Verify a contract
        </a>
      </p>
    </>
  );
}

function JobFailed({
  what,
  job,
}: {
  readonly what: string;
  readonly job: Loaded<JobState>;
}): VNode | null {
  if (job.state === 'ready') return null;
  return (
    <Failure what={what} loaded={job}>
      You can close this page; the verification continues. The page updates by itself.
    </Failure>
  );
}

/** How long ago the job was received, relative to the page's time. */
function Elapsed({ since, now }: { readonly since: string; readonly now: string }): VNode {
  const [passedMs, setPassedMs] = useState(0);
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(() => setPassedMs(performance.now() - start), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = (Date.parse(now) - Date.parse(since) + passedMs) / 1000;
  return <p class="quiet">Received {formatSpan(seconds)} ago.</p>;
}

function Success({ job, base }: { readonly job: JobState; readonly base: string }): VNode {
  const { chainId, address, runtimeMatch, creationMatch, stored, keptBeside, droppedSources } = job;
  const { changedSettings } = job;
  const match = runtimeMatch === 'full' || creationMatch === 'full' ? 'full' : 'partial';
  return (
    <div class={`verdict ${match}`}>
      <p class="verdict-title">
        <MatchMark match={match} /> <span>{VERDICTS[match].title}</span>
      </p>
      <p>{VERDICTS[match].text}</p>
      {changedSettings && (
        <p>
          Your sources match with <SafeText text={describeChanges(changedSettings)} />, not with the
          settings that you sent: <code>{formatChanges(changedSettings)}</code>
        </p>
      )}
      <ul class="plain">
        <li>
          Runtime code: <MatchMark match={runtimeMatch} /> – {describeCodeMatch(runtimeMatch)}
        </li>
        <li>
          Creation code: <MatchMark match={creationMatch} /> – {describeCodeMatch(creationMatch)}
        </li>
      </ul>
      {!stored && (
        <p>
          {keptBeside
            ? 'The match was not replaced: other sources that compile to the same bytecode are already shown, and a partial match does not prove names or comments. Yours are stored as an alternative.'
            : 'Nothing was stored: the contract already has a match that is at least as good.'}
        </p>
      )}
      {droppedSources && (
        <details>
          <summary>
            {droppedSources.count} {droppedSources.count === 1 ? 'source was' : 'sources were'} left
            out: the code is the same without {droppedSources.count === 1 ? 'it' : 'them'}
          </summary>
          <ul>
            {droppedSources.paths.map((path) => (
              <li key={path}>
                <SafeText text={path} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <p>
        <a class="button" href={`${base}contract/${chainId}/${address}`}>
          See the contract
        </a>
      </p>
    </div>
  );
}
