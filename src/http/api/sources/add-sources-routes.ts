import { type OpenAPIHono } from '@hono/zod-openapi';

import { respondJson, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { proposalRoute, verifySourcesRoute } from './sources-routes.ts';

type SourcesParts = Pick<HttpDependencies, 'requests' | 'clientOf' | 'verification'>;

/** Adds the routes that verify plain sources. A worker thread reads and validates the body. */
export function addSourcesRoutes(
  routes: OpenAPIHono,
  { requests, verification, clientOf }: SourcesParts,
): void {
  const withoutBody = {
    ...verifySourcesRoute,
    request: { params: verifySourcesRoute.request.params },
  };
  routes.openapi(withoutBody, async (c) => {
    const { request } = await requests.read(c, { kind: 'sources', ...c.req.valid('param') });
    const client = clientOf(c);
    const verificationId = await verification.submit(request, client);
    return respondJson(verifySourcesRoute, { verificationId }, NOT_STORED, 202);
  });
  routes.openapi(proposalRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const requester = { client: clientOf(c), signal: c.req.raw.signal };
    const proposal = await verification.propose(chainId, address, requester);
    return respondJson(proposalRoute, proposal, NOT_STORED);
  });
}
