import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createApi, type Loaded } from '../api.ts';
import { describeCodeMatch, VERDICTS } from '../contract/verdict.ts';
import { definePage, type ViewProps } from '../page.ts';
import { MatchMark } from '../parts/match-mark.tsx';
import { Failure } from '../parts/notices.tsx';
import { JobFailureView } from '../verify/job-failure.tsx';
import { isEnded, type JobState } from '../verify/job-state.ts';
import { JobSteps } from '../verify/job-steps.tsx';
import './job.css';

interface JobData {
  readonly job: Loaded<JobState>;
}

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** How long the page waits before it asks again: each wait is longer than the one before. */
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 4000;
const WAIT_GROWTH = 1.3;

/** A verification while it goes on, and what came of it. */
export const page = definePage<JobData>({
  section: 'verify',
  title: ({ data: { job } }) =>
    job.state === 'ready'
      ? `Verification ${job.value.state} – Fullmatch`
      : 'Verification – Fullmatch',
  load: async (api, { params }) => ({
    job: await api.get<JobState>(`v1/jobs/${encodeURIComponent(params['id'] ?? '')}`),
  }),
  status: ({ job }) => {
    if (job.state === 'ready') return 200;
    return job.status === 404 ? 404 : 503;
  },
  View: JobView,
});

/** The job as it was first read, and as it stands after that. A failed reading is kept apart from the last good one. */
function useJob(
  first: Loaded<JobState>,
  base: string,
): [Loaded<JobState>, Loaded<JobState> | undefined] {
  const [job, setJob] = useState(first);
  const [failed, setFailed] = useState<Loaded<JobState>>();
  useEffect(() => {
    if (job.state === 'failed' || isEnded(job.value)) return undefined;
    const api = createApi((path) => fetch(`${base}${path}`));
    const { id } = job.value;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (waitMs: number): Promise<void> => {
      const answer = await api.get<JobState>(`v1/jobs/${id}`);
      if (isOver) return;
      if (answer.state === 'failed') setFailed(answer);
      else {
        setFailed(undefined);
        setJob(answer);
        if (isEnded(answer.value)) return;
      }
      const next = Math.min(waitMs * WAIT_GROWTH, LONGEST_WAIT_MS);
      timer = setTimeout(() => void ask(next), next);
    };
    timer = setTimeout(() => void ask(FIRST_WAIT_MS), FIRST_WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  return [job, failed];
}

function JobView({ data, request: { params }, context: { base } }: ViewProps<JobData>): VNode {
  const [job, failed] = useJob(data.job, base);
  if (job.state === 'failed') {
    const isUnknown = job.status === 404;
    return (
      <>
        <h1>{isUnknown ? 'No such verification' : 'A verification'}</h1>
        {isUnknown ? (
          <>
            <p>
              This service knows no verification with the id <code>{params['id']}</code>. Jobs are
              forgotten 30 days after their end; what they found stays with the contract.
            </p>
            <p>
              <a class="button" href={`${base}verify`}>
                Verify a contract
              </a>
            </p>
          </>
        ) : (
          <Failure what="The verification" loaded={job} />
        )}
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
        on <a href={`${base}registry/${chainId}`}>chain {chainId}</a>
      </p>
      <div aria-live="polite">
        <JobSteps job={value} />
        {failed?.state === 'failed' && (
          <Failure what="How the verification stands now" loaded={failed} />
        )}
        {value.state === 'succeeded' && <Success job={value} base={base} />}
        {value.failure !== undefined && (
          <JobFailureView job={value} failure={value.failure} base={base} />
        )}
      </div>
      {!isEnded(value) && (
        <noscript>
          <p>
            <a class="button" href="">
              Look again
            </a>
          </p>
        </noscript>
      )}
      <p class="quiet">
        Job <code>{JOB_ID.test(value.id) ? value.id : ''}</code>
      </p>
    </>
  );
}

function Success({ job, base }: { readonly job: JobState; readonly base: string }): VNode {
  const { chainId, address, runtimeMatch, creationMatch, stored } = job;
  const match = runtimeMatch === 'full' || creationMatch === 'full' ? 'full' : 'partial';
  return (
    <div class={`verdict ${match}`}>
      <p class="verdict-title">
        <MatchMark match={match} /> <span>{VERDICTS[match].title}</span>
      </p>
      <p>{VERDICTS[match].text}</p>
      <ul class="plain">
        <li>
          Runtime code: <MatchMark match={runtimeMatch} /> – {describeCodeMatch(runtimeMatch)}
        </li>
        <li>
          Creation code: <MatchMark match={creationMatch} /> – {describeCodeMatch(creationMatch)}
        </li>
      </ul>
      {!stored && <p>A match as good as this one was stored before; it stays.</p>}
      <p>
        <a class="button" href={`${base}contract/${chainId}/${address}`}>
          See the contract
        </a>
      </p>
    </div>
  );
}
