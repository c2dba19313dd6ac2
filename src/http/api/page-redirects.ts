import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { checksumAddress } from '../../lib/hex.ts';
import { type Answer, BASE_HEADERS, makeResponse, NOT_STORED } from '../answer.ts';
import { contractParameters } from '../contract-parameters.ts';
import { problemResponse } from '../problem-schema.ts';

const redirect = { description: 'The location of the page' } as const;
const invalidParameter = problemResponse('A parameter is invalid (`invalid_parameter`)');

/** GET /repo-ui/{chainId}/{address}: the link that tools print for a contract. */
export const contractPageRoute = createRoute({
  method: 'get',
  path: '/repo-ui/{chainId}/{address}',
  summary: 'Redirects to the page of a contract',
  tags: ['Contracts'],
  request: { params: contractParameters },
  responses: { 302: redirect, 400: invalidParameter },
});

/** GET /verify-ui/jobs/{verificationId}: the link that tools print for a verification job. */
export const jobPageRoute = createRoute({
  method: 'get',
  path: '/verify-ui/jobs/{verificationId}',
  summary: 'Redirects to the page of a verification job',
  tags: ['Contracts'],
  request: { params: z.object({ verificationId: z.uuid() }) },
  responses: { 302: redirect, 400: invalidParameter },
});

/** Targets of bookmarks and links to Sourcify's pages and documentation, by path. */
const ENTRANCES: Readonly<Record<string, string>> = {
  '/verify-ui': 'verify',
  '/repo-ui': 'contracts',
  '/api-docs': 'docs',
  '/api-docs/swagger.json': 'openapi.json',
};

/** Redirects the page URLs that tools print to the pages. */
export function addPageRedirects(routes: OpenAPIHono): void {
  routes.openapi(contractPageRoute, (c) => {
    const { chainId, address } = c.req.valid('param');
    return redirectTo(c.req.url, `contract/${chainId}/${checksumAddress(address)}`);
  });
  routes.openapi(jobPageRoute, (c) =>
    redirectTo(c.req.url, `job/${c.req.valid('param').verificationId}`),
  );
  for (const [path, target] of Object.entries(ENTRANCES)) {
    routes.get(path, (c) => redirectTo(c.req.url, target, partsOf(path)));
  }
  // Sourcify's form has separate pages for each language and input method; the form here is one page.
  routes.get('/verify-ui/*', (c) => {
    const { path } = c.req;
    return redirectTo(c.req.url, 'verify', partsOf(path.slice(path.indexOf('/verify-ui'))));
  });
}

function partsOf(path: string): number {
  return path.replace(/\/$/, '').split('/').length - 1;
}

/**
 * Redirects with a relative location, which is valid at every prefix and behind every proxy.
 * @param depth the number of segments in the route's path
 */
export function redirectTo(url: string, target: string, depth = 3): Answer {
  const up = '../'.repeat(new URL(url).pathname.endsWith('/') ? depth : depth - 1);
  return makeResponse(null, {
    status: 302,
    headers: { ...BASE_HEADERS, location: `${up}${target}`, 'cache-control': NOT_STORED },
  });
}
