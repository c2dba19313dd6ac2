import { type WaitOptions } from '../../verification/jobs/job-waiters.ts';
import { isFinished, type VerificationJob } from '../../verification/jobs/verification-job.ts';
import { jobNotFound } from '../../verification/jobs/end-job.ts';
import { type Verification } from '../../verification/verification.ts';

/** Age up to which a request for a job waits for its end. */
const YOUNG_JOB_MS = 5000;

/**
 * Returns a job; while the job is young, waits for its end first. Clients poll at once and then pause (forge
 * for 15 seconds), while most jobs end within one second.
 * @throws FullmatchError job_not_found
 */
export async function readJobAfterShortWait(
  verification: Pick<Verification, 'readJob' | 'waitForJob'>,
  id: string,
  requester: Pick<WaitOptions, 'client' | 'signal'>,
): Promise<VerificationJob> {
  const job = await verification.readJob(id);
  if (job === undefined) throw jobNotFound(id);
  // The database clock may be ahead of ours or behind.
  const remainingMs = Math.min(YOUNG_JOB_MS - (Date.now() - job.createdAt.getTime()), YOUNG_JOB_MS);
  if (isFinished(job) || remainingMs <= 0) return job;
  try {
    const ended = await verification.waitForJob(job.id, { ...requester, timeoutMs: remainingMs });
    return ended ?? (await verification.readJob(job.id)) ?? job;
  } catch {
    // If the client cannot wait, return the state read above.
    return job;
  }
}
