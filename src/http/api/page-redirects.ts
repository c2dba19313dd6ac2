import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { checksumAddress } from '../../lib/hex.ts';
import { type Answer, BASE_HEADERS, makeAnswer, NOT_STORED } from '../answer.ts';
import { contractParameters } from '../contract-parameters.ts';
import { problemResponse } from '../problem-schema.ts';

const redirect = { description: 'The location of the page' } as const;
const invalidParameter = problemResponse('A parameter is invalid (`invalid_parameter`)');

/** GET /repo-ui/{chainId}/{address}: where tools send their users to see a contract. */
export const contractPageRoute = createRoute({
  method: 'get',
  path: '/repo-ui/{chainId}/{address}',
  summary: 'Redirects to the page of a contract',
  tags: ['Contracts'],
  request: { params: contractParameters },
  responses: { 302: redirect, 400: invalidParameter },
});

/** GET /verify-ui/jobs/{verificationId}: where tools send their users to see a verification job. */
export const jobPageRoute = createRoute({
  method: 'get',
  path: '/verify-ui/jobs/{verificationId}',
  summary: 'Redirects to the page of a verification job',
  tags: ['Contracts'],
  request: { params: z.object({ verificationId: z.uuid() }) },
  responses: { 302: redirect, 400: invalidParameter },
});

/** Where bookmarks and links made for the peer's pages and documentation lead, by their paths. */
const ENTRANCES: Readonly<Record<string, string>> = {
  '/verify-ui': 'verify',
  '/repo-ui': 'contracts',
  '/api-docs': 'docs',
  '/api-docs/swagger.json': 'openapi.json',
};

/** The addresses of pages that tools print lead to the pages. */
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
  // The peer's form has pages of its own for each language and way in; the form here is one page.
  routes.get('/verify-ui/*', (c) => {
    const { path } = c.req;
    return redirectTo(c.req.url, 'verify', partsOf(path.slice(path.indexOf('/verify-ui'))));
  });
}

function partsOf(path: string): number {
  return path.replace(/\/$/, '').split('/').length - 1;
}

/**
 * The location is relative, so that it holds at every prefix and behind every proxy.
 * @param depth how many parts the path of the route has
 */
export function redirectTo(url: string, target: string, depth = 3): Answer {
  const up = '../'.repeat(new URL(url).pathname.endsWith('/') ? depth : depth - 1);
  return makeAnswer(null, {
    status: 302,
    headers: { ...BASE_HEADERS, location: `${up}${target}`, 'cache-control': NOT_STORED },
  });
}
