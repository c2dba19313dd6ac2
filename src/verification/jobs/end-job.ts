import { FullmatchError } from '../../errors.ts';
import { type Database } from '../../store/database.ts';
import { readJob } from './read-job.ts';
import { cancelJob } from './run-jobs.ts';
import { isFinished, type VerificationJob } from './verification-job.ts';

/**
 * Cancels a job: immediately if it is queued, within seconds if it is running.
 * @param client the requesting client, which must have submitted the job; the operator if absent
 * @returns the job afterwards: ended if it was queued; if it was running, it may still be
 * @throws FullmatchError job_not_found, job_ended, job_of_another_client
 */
export async function endJob(
  database: Database,
  id: string,
  client?: string,
): Promise<VerificationJob> {
  const { state } = await requireJob(database, id);
  if (!isFinished({ state }) && (await cancelJob(database, id, client))) {
    return requireJob(database, id);
  }
  const job = await requireJob(database, id);
  if (isFinished(job)) {
    throw new FullmatchError('job_ended', `The job ${job.id} has already ended.`, {
      details: { verificationId: job.id, state: job.state },
    });
  }
  throw new FullmatchError(
    'job_of_another_client',
    `The job ${job.id} was not sent from your address; only its sender or the operator can cancel it.`,
    { details: { verificationId: job.id } },
  );
}

async function requireJob(database: Database, id: string): Promise<VerificationJob> {
  const job = await readJob(database, id);
  if (job === undefined) throw jobNotFound(id);
  return job;
}

/** Builds the error for an id of no job. */
export function jobNotFound(id: string): FullmatchError {
  return new FullmatchError(
    'job_not_found',
    `There is no verification job ${JSON.stringify(id.slice(0, 64))}.`,
  );
}
