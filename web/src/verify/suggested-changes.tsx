import { Fragment, type VNode } from 'preact';
import { type JobState } from '../answers.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { suggestChanges } from './input-change.ts';
import { type JobFailure } from './job-state.ts';
import { requestResubmission, useKeptInput } from './own-jobs.ts';

/**
 * Buttons that send the input again with what the failure suggests. They need the input, so they appear in
 * the tab that sent it only.
 */
export function SuggestedChanges({
  job: { id, chainId, address },
  failure,
  base,
}: {
  readonly job: JobState;
  readonly failure: JobFailure;
  readonly base: string;
}): VNode | null {
  const kind = useKeptInput(id);
  const suggestions = kind === undefined ? [] : suggestChanges(failure, kind);
  const form = new URLSearchParams({ chain: String(chainId), address });
  if (suggestions.length === 0) return null;
  return (
    <p>
      {suggestions.map(({ label, change }) => (
        <Fragment key={label}>
          <a
            class="button primary"
            href={`${base}verify?${form.toString()}`}
            onClick={() => requestResubmission(change)}
          >
            <SafeText text={label} />
          </a>{' '}
        </Fragment>
      ))}
    </p>
  );
}
