import { createRoute, z } from '@hono/zod-openapi';

import { documentResponses } from '../document-responses.ts';
import { problemResponse } from '../problem-schema.ts';
import { manifestSchema, statisticsReference } from './statistics-schema.ts';
import { jsonResponse } from '../json-response.ts';

/** URL of the repository host in the committed document; a running service replaces it with its own. */
export const REPOSITORY_URL = 'http://localhost:10000';

/** GET /stats.json: the published document. */
export const statisticsRoute = createRoute({
  method: 'get',
  path: '/stats.json',
  summary: 'Counts of verified contracts by chain',
  description:
    'A key for every chain that ever had a verified contract, in ascending order. A contract counts once, at its best match.',
  tags: ['Documents'],
  responses: {
    200: jsonResponse('The counts', statisticsReference),
    ...documentResponses,
  },
});

/** GET /manifest.json. */
export const manifestRoute = createRoute({
  method: 'get',
  path: '/manifest.json',
  summary: 'The time of the repository’s content',
  description:
    'The time of the last change of the counts, so replicas with the same content agree.',
  tags: ['Documents'],
  responses: {
    200: jsonResponse('The manifest', manifestSchema),
    503: problemResponse('The service is still loading its data (`not_ready`)'),
  },
});

/** The body of GET /contracts/{matchFolder}/{chainId}/{address}. */
export const folderSchema = z
  .strictObject({
    match: z.enum(['full', 'partial']),
    chainId: z.int(),
    address: z.string(),
    files: z.array(
      z.strictObject({
        path: z.string().describe('Paths below this folder'),
        url: z.string().describe('Path from the root of this host'),
        bytes: z
          .int()
          .optional()
          .describe('Its size; absent for compilation.json, which is rendered on request'),
      }),
    ),
  })
  .meta({ id: 'ContractFolder', description: 'The files of a verified contract' });
