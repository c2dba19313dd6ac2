import { type WaitOptions } from '../../verification/jobs/job-waiters.ts';
import { isFinished, type VerificationJob } from '../../verification/jobs/verification-job.ts';
import { jobNotFound } from '../../verification/jobs/end-job.ts';
import { type Verification } from '../../verification/verification.ts';

/** How old a job grows while its first askers wait for its end. */
const YOUNG_JOB_MS = 5000;

/**
 * The job; while it is young, as it stands at its end. Clients ask at once and then wait for long, forge for 15 seconds,
 * while most jobs end within one.
 * @throws FullmatchError job_not_found
 */
export async function readYoungJobAtItsEnd(
  verification: Pick<Verification, 'readJob' | 'waitForJob'>,
  id: string,
  asker: Pick<WaitOptions, 'client' | 'signal'>,
): Promise<VerificationJob> {
  const job = await verification.readJob(id);
  if (job === undefined) throw jobNotFound(id);
  // The clock of the database may go before or behind ours.
  const remainingMs = Math.min(YOUNG_JOB_MS - (Date.now() - job.createdAt.getTime()), YOUNG_JOB_MS);
  if (isFinished(job) || remainingMs <= 0) return job;
  try {
    const ended = await verification.waitForJob(job.id, { ...asker, timeoutMs: remainingMs });
    return ended ?? (await verification.readJob(job.id)) ?? job;
  } catch {
    // Whoever cannot wait any longer, or not at all, is told how the job stood a moment ago.
    return job;
  }
}
