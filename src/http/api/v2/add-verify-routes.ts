import { type OpenAPIHono, type z } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { type WaitOptions } from '../../../verification/job-waiters.ts';
import { jobNotFound } from '../../../verification/verification.ts';
import { isFinished, type VerificationJob } from '../../../verification/verification-job.ts';
import { answer, JSON_TYPE, NOT_STORED } from '../../answer.ts';
import { clientOf } from '../../client-of.ts';
import { contractParameters } from '../../contract-parameters.ts';
import { type HttpDependencies } from '../../host-dependencies.ts';
import { renderJob } from './render-job.ts';
import { jobRoute, verifyMetadataRoute, verifyRoute } from './verify-routes.ts';

type Deps = Pick<
  HttpDependencies,
  'answers' | 'contracts' | 'requests' | 'trustedProxies' | 'verification'
>;
/** How old a job grows while its first askers wait for its end. */
const YOUNG_JOB_MS = 5000;

/** The routes of the verification API v2 that verify. Bodies are read on a thread of their own, see {@link RequestReader}. */
export function addVerifyRoutes(routes: OpenAPIHono, deps: Deps): void {
  routes.post(verifyMetadataRoute.getRoutingPath(), submitter(deps, 'metadata'));
  routes.post(verifyRoute.getRoutingPath(), submitter(deps, 'standard_json'));
  routes.get(jobRoute.getRoutingPath(), async (c) => {
    const job = await readYoungJobAtItsEnd(deps, c.req.param('verificationId'), {
      client: clientOf(c.env, deps.trustedProxies),
      signal: c.req.raw.signal,
    });
    if (job.failure !== undefined) await deps.answers.ownPass();
    const { chainId, address } = job;
    const current =
      job.state === 'succeeded' ? await deps.contracts.readContract(chainId, address) : undefined;
    return deps.answers.answerText(c, JSON.stringify(renderJob(job, current)), NOT_STORED);
  });
}

/**
 * The job; while it is young, as it stands at its end. Clients ask at once and then wait for long, forge for 15 seconds,
 * while most jobs end within one.
 */
async function readYoungJobAtItsEnd(
  { verification }: Deps,
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

function submitter(
  { requests, verification, trustedProxies }: Deps,
  kind: 'standard_json' | 'metadata',
): (c: Context) => Promise<Response> {
  return async (c) => {
    const read = await requests.read(c, { kind, ...readParameters(c) });
    if (!('request' in read)) throw new Error('a body of the API v2 names one contract');
    const client = clientOf(c.env, trustedProxies);
    const verificationId = await verification.submit(read.request, client);
    return answer(JSON.stringify({ verificationId }), {
      status: 202,
      type: JSON_TYPE,
      cacheControl: NOT_STORED,
    });
  };
}

function readParameters(c: Context): z.output<typeof contractParameters> {
  const parsed = contractParameters.safeParse(c.req.param());
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const parameter = issue?.path.join('.') ?? '';
  throw new FullmatchError('invalid_parameter', `${parameter}: ${issue?.message ?? ''}.`, {
    details: { parameter },
  });
}
