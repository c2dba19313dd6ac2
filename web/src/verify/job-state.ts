import { type JobState } from '../answers.ts';

/** The failure of a job: code, message, and the codes that differ. */
export type JobFailure = NonNullable<JobState['failure']>;

/** Two codes that were compared: the bytes from an offset on, or all. */
export type Comparison = NonNullable<NonNullable<JobFailure['comparedCodes']>['runtime']>;

/** One of two codes that were compared. A window is absent where the whole code stands in its own member. */
export type ComparedCode = NonNullable<Comparison['onChain']>;

/** Whether nothing of the job changes any more. */
export function isEnded({ state }: Pick<JobState, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed';
}

/** A step of a job: done, under way, or still to come. */
export interface JobStep {
  readonly name: string;
  /** `skipped`: it was not done before the job ended. */
  readonly stands: 'done' | 'now' | 'next' | 'failed' | 'skipped';
  /** When it was reached, or how long it took. */
  readonly note?: string;
}

/** The space keeps a number and its unit on one line. */
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
    { name: 'Received', stands: 'done' },
    {
      name: 'Waited for a worker',
      stands: state === 'queued' && download === undefined ? 'now' : 'done',
      ...(waited !== undefined && { note: secondsBetween(createdAt, waited) }),
    },
    ...(download === undefined
      ? []
      : [{ name: 'Getting the compiler', stands: 'now' as const, note: download }]),
    {
      name: 'Compiled',
      stands: standsBefore(job, NOT_COMPILED, compileTimeMs !== undefined),
      ...(compileTimeMs !== undefined && { note: formatSeconds(compileTimeMs) }),
    },
    { name: 'Read the code from the chain', stands: standsBefore(job, NOT_READ) },
    {
      name: state === 'failed' ? 'Ended without a match' : 'Compared and stored',
      stands: state === 'succeeded' ? 'done' : state === 'failed' ? 'failed' : 'next',
      ...(ran && { note: `${secondsBetween(createdAt, finishedAt)} in all` }),
    },
  ];
}

/** Why there is no code on chain to compare with. */
const NOT_READ: ReadonlySet<string> = new Set([
  ...['cannot_fetch_bytecode', 'contract_not_deployed', 'delegated_account', 'unsupported_chain'],
]);
/** Why a job ended that nothing was wrong with. */
const ENDED: ReadonlySet<string> = new Set([
  ...['job_timed_out', 'job_cancelled', 'internal_error', 'contract_changed'],
]);
/** Every other fault is one of the input or of its compiler. */
const NOT_COMPILED = {
  has: (code: string): boolean => !NOT_READ.has(code) && !ENDED.has(code),
};

/** How one of the two steps stands that come before the comparison, at once: codes that differ were compiled and read. */
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
