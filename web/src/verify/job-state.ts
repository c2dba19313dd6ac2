import { type JobState } from '../answers.ts';

/** Failure of a job: code, message, and the differing bytecodes. */
export type JobFailure = NonNullable<JobState['failure']>;

/** Two compared bytecodes: the bytes from an offset on, or all. */
export type Comparison = NonNullable<NonNullable<JobFailure['comparedCodes']>['runtime']>;

/** One of two compared bytecodes. The window is absent if the complete bytecode is in its own member. */
export type ComparedCode = NonNullable<Comparison['onChain']>;

/** Whether the job will not change any more. */
export function isEnded({ state }: Pick<JobState, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed';
}

/** A step of a job: done, running, or pending. */
export interface JobStep {
  readonly name: string;
  /** `skipped`: the job ended before it. */
  readonly stands: 'done' | 'now' | 'next' | 'failed' | 'skipped';
  /** When it was reached, or how long it took. */
  readonly note?: string;
}

/** A non-breaking space keeps a number and its unit together. */
const formatSeconds = (milliseconds: number): string =>
  `${(milliseconds / 1000).toFixed(1)}\u00a0s`;

const secondsBetween = (from: string, to: string): string =>
  formatSeconds(Date.parse(to) - Date.parse(from));

/** The steps of a job. A step counts as done only once the service has recorded it. */
export function describeSteps(job: JobState): JobStep[] {
  const { state, createdAt, startedAt, finishedAt, compileTimeMs } = job;
  const download = job.compilerDownload?.message;
  const waited = download === undefined ? (startedAt ?? finishedAt) : undefined;
  const ran = startedAt !== undefined && finishedAt !== undefined;
  return [
    { name: 'Receive', stands: 'done' },
    {
      name: 'Wait in queue',
      stands: state === 'queued' && download === undefined ? 'now' : 'done',
      ...(waited !== undefined && { note: secondsBetween(createdAt, waited) }),
    },
    ...(download === undefined
      ? []
      : [{ name: 'Download the compiler', stands: 'now' as const, note: download }]),
    {
      name: 'Compile',
      stands: standsBefore(job, NOT_COMPILED, compileTimeMs !== undefined),
      ...(compileTimeMs !== undefined && { note: formatSeconds(compileTimeMs) }),
    },
    { name: 'Read the code from the chain', stands: standsBefore(job, NOT_READ) },
    {
      name: state === 'failed' ? nameOfFailure(job) : 'Compare and store',
      stands: state === 'succeeded' ? 'done' : state === 'failed' ? 'failed' : 'next',
      ...(ran && { note: `${secondsBetween(createdAt, finishedAt)} in all` }),
    },
  ];
}

const FAILED_STEPS = {
  no_match: 'Compare: no match',
  invalid_input: 'Not compared',
  not_checked: 'Could not be checked',
} as const;

const nameOfFailure = ({ failure }: JobState): string =>
  FAILED_STEPS[failure?.kind ?? 'not_checked'];

/** Why there is no bytecode on chain to compare with. */
const NOT_READ: ReadonlySet<string> = new Set([
  ...['cannot_fetch_bytecode', 'contract_not_deployed', 'delegated_account', 'unsupported_chain'],
]);
/** Why a job ended without a fault of the input. */
const ENDED: ReadonlySet<string> = new Set([
  ...['job_timed_out', 'job_cancelled', 'internal_error', 'contract_changed'],
]);
/** Every other failure is one of the input or its compiler. */
const NOT_COMPILED = {
  has: (code: string): boolean => !NOT_READ.has(code) && !ENDED.has(code),
};

/** State of the two concurrent steps before the comparison: differing bytecodes imply that both are done. */
function standsBefore(
  { state, failure }: JobState,
  causes: { has: (code: string) => boolean },
  isKnownDone = false,
): JobStep['stands'] {
  if (state === 'queued') return 'next';
  if (state === 'succeeded' || failure?.kind === 'no_match' || isKnownDone) return 'done';
  if (failure === undefined) return 'now';
  return causes.has(failure.code) ? 'failed' : 'skipped';
}
