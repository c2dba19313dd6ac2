import { createRoute, z } from '@hono/zod-openapi';

import { chainRecordSchema } from '../../chains/registry/chain-record-schema.ts';
import { documentResponses } from '../document-responses.ts';
import { healthReportSchema } from '../health-schema.ts';
import { problemResponse } from '../problem-schema.ts';
import { overloadResponses } from '../records/record-responses.ts';
import { jsonResponse } from '../json-response.ts';

const chainRecord = chainRecordSchema.meta({ id: 'ChainRecord' });

/** GET /chains: the published document. */
export const chainsRoute = createRoute({
  method: 'get',
  path: '/chains',
  summary: 'All chains in the registry',
  description:
    'Ordered by chainId, supported or not. Every key of stats.json has a record here. Unknown fields are absent.',
  tags: ['Documents'],
  responses: {
    200: jsonResponse('The chains', z.array(chainRecord)),
    ...documentResponses,
  },
});

/** GET /chains/{ref}: one chain. */
export const chainRoute = createRoute({
  method: 'get',
  path: '/chains/{ref}',
  summary: 'One chain',
  description: 'By its id (1, 0x1, eip155:1), its short name (eth) or its name.',
  tags: ['Chains'],
  request: {
    params: z.object({
      ref: z.string().openapi({
        param: { description: 'Decimal or hexadecimal id, CAIP-2 id, short name or name' },
        example: 'eip155:1',
      }),
    }),
  },
  responses: {
    200: jsonResponse('The chain', chainRecord),
    400: problemResponse('Not a valid chain reference (`invalid_parameter`)'),
    404: problemResponse('No such chain (`chain_not_found`)'),
    409: problemResponse('Several chains have this name (`ambiguous_chain_reference`)'),
  },
});

/** GET /health. */
export const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  summary: 'The health of the service',
  description:
    'Always 200 while the service responds; `status` says whether something needs attention.',
  tags: ['Operations'],
  responses: {
    200: jsonResponse('The report', healthReportSchema),
  },
});

/** GET /version. */
export const versionRoute = createRoute({
  method: 'get',
  path: '/version',
  summary: 'The running version',
  tags: ['Operations'],
  responses: {
    200: jsonResponse(
      'The version',
      z
        .strictObject({
          name: z.literal('fullmatch'),
          version: z.string().describe('Version of the service'),
          node: z.string().describe('Version of Node.js'),
          schema: z.int().optional().describe('Number of the newest database migration'),
          verify: z
            .enum(['open', 'token', 'off'])
            .describe('Who may verify contracts: everyone, holders of a token, or no one'),
        })
        .meta({ id: 'Version', description: 'The running version' }),
    ),
  },
});

/** GET /openapi.json. */
export const openapiRoute = createRoute({
  method: 'get',
  path: '/openapi.json',
  summary: 'This description',
  tags: ['Operations'],
  responses: {
    200: jsonResponse('An OpenAPI 3.1 document', z.looseObject({ openapi: z.string() })),
    304: documentResponses[304],
    406: documentResponses[406],
  },
});

const htmlPage = { 'text/html': { schema: z.string() } };

/** GET /docs. */
export const docsRoute = createRoute({
  method: 'get',
  path: '/docs',
  summary: 'This description as a page',
  tags: ['Operations'],
  responses: {
    200: { description: 'A page', content: htmlPage },
    ...overloadResponses(problemResponse),
  },
});

/** GET /favicon.ico, on both hosts. */
export const iconRoute = createRoute({
  method: 'get',
  path: '/favicon.ico',
  hide: true,
  responses: {
    200: { description: 'The icon', content: { 'image/svg+xml': { schema: z.string() } } },
  },
});
