import { type OpenAPIHono, type z } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { jobNotFound } from '../../../verification/verification.ts';
import { type VerificationRequest } from '../../../verification/verification-request.ts';
import { answer, answerJsonText, JSON_TYPE, NOT_STORED } from '../../answer.ts';
import { clientOf } from '../../client-of.ts';
import { contractParameters } from '../../contract-parameters.ts';
import { type HttpDependencies } from '../../host-dependencies.ts';
import { parseJsonObject } from '../../read-json-body.ts';
import { renderJob } from './render-job.ts';
import { readMetadataBody, readStandardJsonBody, readTransactionHash } from './verify-body.ts';
import { jobRoute, verifyMetadataRoute, verifyRoute } from './verify-routes.ts';

type Deps = Pick<HttpDependencies, 'contracts' | 'verification'>;
type ReadBody = (body: Readonly<Record<string, unknown>>) => VerificationRequest['compilation'];

/** The routes of the verification API v2 that verify. Bodies are read by hand, see {@link readStandardJsonBody}. */
export function addVerifyRoutes(routes: OpenAPIHono, deps: Deps): void {
  routes.post(verifyMetadataRoute.getRoutingPath(), submitter(deps, readMetadataBody));
  routes.post(verifyRoute.getRoutingPath(), submitter(deps, readStandardJsonBody));
  routes.get(jobRoute.getRoutingPath(), async (c) => {
    const id = c.req.param('verificationId');
    const job = await deps.verification.readJob(id);
    if (job === undefined) throw jobNotFound(id);
    const { chainId, address } = job;
    const current =
      job.state === 'succeeded' ? await deps.contracts.readContract(chainId, address) : undefined;
    return answerJsonText(JSON.stringify(renderJob(job, current?.match)), NOT_STORED);
  });
}

function submitter({ verification }: Deps, readBody: ReadBody): (c: Context) => Promise<Response> {
  return async (c) => {
    const { chainId, address } = readParameters(c);
    const body = parseJsonObject(await c.req.text());
    const creationTransactionHash = readTransactionHash(
      body['creationTransactionHash'],
      'creationTransactionHash',
    );
    const request = {
      chainId,
      address,
      ...(creationTransactionHash !== undefined && { creationTransactionHash }),
      compilation: readBody(body),
    };
    const verificationId = await verification.submit(request, clientOf(c.env));
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
