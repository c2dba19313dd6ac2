import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { type Answer, respondJson, NOT_STORED } from '../../answer.ts';
import { type BodyForm } from '../../bodies/read-request.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { readJobAfterShortWait } from '../read-job-after-short-wait.ts';
import { renderJob } from './render-job.ts';
import { type ImportFromExplorer } from './explorer-import.ts';
import {
  jobRoute,
  verifyExplorerRoute,
  verifyMetadataRoute,
  verifyRoute,
  verifySimilarityRoute,
} from './verify-routes.ts';

type VerifyParts = Pick<
  HttpDependencies,
  'answers' | 'contracts' | 'requests' | 'clientOf' | 'verification'
> & { readonly findAtExplorer: ImportFromExplorer };

/**
 * Adds the routes of the verification API v2 that verify. Bodies are read on a separate thread, see {@link
 * RequestReader}.
 */
export function addVerifyRoutes(routes: OpenAPIHono, parts: VerifyParts): void {
  routes.openapi(withoutBody(verifyMetadataRoute), (c) =>
    submit(parts, c, { kind: 'metadata', ...c.req.valid('param') }),
  );
  routes.openapi(withoutBody(verifySimilarityRoute), (c) =>
    submit(parts, c, { kind: 'similarity', ...c.req.valid('param') }),
  );
  routes.openapi(withoutBody(verifyExplorerRoute), async (c) => {
    const place = c.req.valid('param');
    const { explorer } = await parts.requests.read(c, { kind: 'explorer' });
    const client = parts.clientOf(c);
    const request = await parts.findAtExplorer({ ...place, ...explorer, client });
    return submitted(await parts.verification.submit(request, client));
  });
  routes.openapi(withoutBody(verifyRoute), (c) =>
    submit(parts, c, { kind: 'standard_json', ...c.req.valid('param') }),
  );
  routes.openapi(jobRoute, (c) => answerJob(parts, c, c.req.valid('param').verificationId));
}

/**
 * Responds with a job.
 * @throws FullmatchError job_not_found
 */
export async function answerJob(
  {
    verification,
    contracts,
    clientOf,
  }: Pick<VerifyParts, 'verification' | 'contracts' | 'clientOf'>,
  c: Context,
  id: string,
): Promise<Answer> {
  const client = clientOf(c);
  const job = await readJobAfterShortWait(verification, id, { client, signal: c.req.raw.signal });
  const { chainId, address } = job;
  const current =
    job.state === 'succeeded' ? await contracts.readContract(chainId, address) : undefined;
  return respondJson(jobRoute, renderJob(job, current), NOT_STORED);
}

/** Returns a route without body validation, which the worker thread that reads the body does. */
function withoutBody<
  Route extends
    | typeof verifyRoute
    | typeof verifyExplorerRoute
    | typeof verifyMetadataRoute
    | typeof verifySimilarityRoute,
>(route: Route) {
  return { ...route, request: { params: route.request.params } };
}

async function submit(
  { requests, verification, clientOf }: VerifyParts,
  c: Context,
  form: BodyForm<'metadata' | 'similarity' | 'standard_json'>,
): Promise<Answer> {
  const { request } = await requests.read(c, form);
  return submitted(await verification.submit(request, clientOf(c)));
}

function submitted(verificationId: string): Answer {
  return respondJson(verifyRoute, { verificationId }, NOT_STORED, 202);
}
