import { type VNode } from 'preact';
import { type JobState } from '../answers.ts';
import { describeSteps } from './job-state.ts';

const MARKS = {
  done: 'M3 8.5L6.5 12L13 4.5',
  now: 'M8 3v5l3 2',
  next: 'M5 8h6',
  failed: 'M4 4l8 8M12 4l-8 8',
  skipped: 'M5 8h6',
} as const;
const WORDS = {
  done: 'done',
  now: 'in progress',
  next: 'pending',
  failed: 'failed',
  skipped: 'not reached',
} as const;

/** Progress of a job. */
export function JobSteps({ job }: { readonly job: JobState }): VNode {
  return (
    <ol class="steps">
      {describeSteps(job).map(({ name, stands, note }) => (
        <li key={name} class={stands} aria-current={stands === 'now' ? 'step' : undefined}>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d={MARKS[stands]} fill="none" stroke="currentColor" stroke-width="2" />
          </svg>
          <span>
            {name} <span class="quiet">({[WORDS[stands], note].filter(Boolean).join('; ')})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
