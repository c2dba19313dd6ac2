import type { ContractMatch } from '../../../repository/repository.ts';
import { isFinished, type VerificationJob } from '../../../verification/jobs/verification-job.ts';
import { type ResponseOf } from '../../answer.ts';
import { renderDownload } from '../../job-schema.ts';
import { renderMinimal, renderUnverified } from './render-contract.ts';
import { type jobSchema } from './verify-routes.ts';
import { isFullMatch } from '../../../verification/verify-contract.ts';

/**
 * Renders a verification job. `error` is absent unless the job failed: clients check whether the key exists.
 * @param current the contract's stored match.
 */
export function renderJob(
  job: VerificationJob,
  current: ContractMatch | undefined,
): ResponseOf<typeof jobSchema> {
  const { failure } = job;
  return {
    isJobCompleted: isFinished(job),
    verificationId: job.id,
    jobStartTime: (job.startedAt ?? job.createdAt).toISOString(),
    ...(job.finishedAt && { jobFinishTime: job.finishedAt.toISOString() }),
    ...(job.compileTimeMs !== undefined && { compilationTime: String(job.compileTimeMs) }),
    ...(failure && {
      error: {
        customCode: failure.code,
        message: failure.message,
        errorId: failure.id,
        ...(failure.data && Object.keys(failure.data).length > 0 && { errorData: failure.data }),
        ...failure.codes,
      },
    }),
    contract:
      job.state === 'succeeded' && current !== undefined
        ? renderMinimal({
            ...current,
            runtimeMatch: job.runtimeMatch,
            creationMatch: job.creationMatch,
            match: isFullMatch(job) ? 'full' : 'partial',
          })
        : renderUnverified(job.chainId, job.address),
    ...(job.external && { externalVerifications: renderExternal(job.external) }),
    ...(job.compilerDownload && { compilerDownload: renderDownload(job.compilerDownload) }),
    ...(job.state === 'succeeded' && {
      stored: job.eventNumber !== undefined,
      keptBeside: job.keptBeside,
      ...(job.droppedSources && { droppedSources: job.droppedSources }),
      ...(job.changedSettings && { changedSettings: job.changedSettings }),
    }),
  };
}

/** Renders the submissions to other explorers, by explorer name. */
function renderExternal(
  external: NonNullable<VerificationJob['external']>,
): NonNullable<ResponseOf<typeof jobSchema>['externalVerifications']> {
  return Object.fromEntries(
    Object.entries(external).map(([name, { state, externalId, error, links }]) => [
      name,
      {
        state,
        ...(typeof externalId === 'string' && { verificationId: externalId }),
        ...(typeof error === 'string' && { error }),
        ...links,
      },
    ]),
  );
}
