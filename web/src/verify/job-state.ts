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
  readonly stands: 'done' | 'now' | 'next' | 'failed';
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
      name: 'Compiled, and read from the chain',
      stands: standsCompiled(job),
      ...(compileTimeMs !== undefined
        ? { note: `the compiler took ${formatSeconds(compileTimeMs)}` }
        : ran && { note: secondsBetween(startedAt, finishedAt) }),
    },
    {
      name: state === 'failed' ? 'Ended without a match' : 'Compared and stored',
      stands: state === 'succeeded' ? 'done' : state === 'failed' ? 'failed' : 'next',
      ...(ran && { note: `${secondsBetween(createdAt, finishedAt)} in all` }),
    },
  ];
}

/** Codes that differ were compiled and read; any other failure came before. */
function standsCompiled({ state, failure }: JobState): JobStep['stands'] {
  if (state === 'queued') return 'next';
  if (state === 'running') return 'now';
  return state === 'succeeded' || failure?.kind === 'no_match' ? 'done' : 'failed';
}
