import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { describeFailure } from '../api.ts';
import { type JobState } from '../answers.ts';
import { postJson } from '../parts/post-json.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { isEnded } from './job-state.ts';
import { isOwnJob, requestResubmission, useKeptInput } from './own-jobs.ts';

interface Props {
  readonly job: JobState;
  readonly base: string;
}

/** Actions on a job submitted from this browser: cancel it, or submit it again. Nothing without scripts. */
export function OwnJobActions({ job, base }: Props): VNode | null {
  const [isOwn, setOwn] = useState(false);
  const isKept = useKeptInput(job.id) !== undefined;
  const [message, setMessage] = useState('');
  useEffect(() => setOwn(isOwnJob(job.id)), [job.id]);
  if (!isOwn || job.state === 'succeeded' || (isEnded(job) && !isKept)) return null;
  const cancel = async (): Promise<void> => {
    setMessage('Cancelling …');
    try {
      const answer = await postJson(`${base}v1/jobs/${job.id}/cancel`, {});
      const body: unknown = await answer.json();
      setMessage(answer.ok ? 'It will end within seconds.' : describeFailure(body).message);
    } catch {
      setMessage('The service did not respond. Try again.');
    }
  };
  const again = new URLSearchParams({ chain: String(job.chainId), address: job.address });
  return (
    <>
      <p>
        {isEnded(job) ? (
          <a
            class="button"
            href={`${base}verify?${again.toString()}`}
            onClick={() => requestResubmission()}
          >
            Send it again
          </a>
        ) : (
          <button type="button" onClick={() => void cancel()}>
            Cancel
          </button>
        )}
      </p>
      <p role="status">{message !== '' && !isEnded(job) && <SafeText text={message} />}</p>
    </>
  );
}
