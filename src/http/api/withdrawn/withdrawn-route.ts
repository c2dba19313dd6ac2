import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import { jsonResponse } from '../../json-response.ts';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';
import { sourcePageSchema } from '../evidence/evidence-routes.ts';
import { matchSchema, originSchema } from '../../match-schema.ts';

/** The body of GET /v1/contracts/{chainId}/{address}/withdrawn. */
const withdrawnSchema = z
  .strictObject({
    chainId: z.int(),
    address: z.string().describe('With its checksum (EIP-55)'),
    withdrawnAt: z.iso.datetime(),
    reason: z.string().describe('As in the events of the contract'),
    match: matchSchema.describe('The match that was withdrawn'),
    origin: originSchema.nullable(),
    compilation: z
      .strictObject({
        name: z.string(),
        fullyQualifiedName: z.string(),
        language: z.string(),
        compiler: z.string(),
        compilerVersion: z.string(),
      })
      .nullable()
      .describe('null if its evidence is unknown'),
    sources: sourcePageSchema.nullable().describe('null if its evidence is unknown'),
  })
  .meta({ id: 'WithdrawnMatch', description: 'A match that no longer counts' });

/** GET /v1/contracts/{chainId}/{address}/withdrawn. */
export const withdrawnRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/withdrawn',
  summary: 'The withdrawn match of a contract, and its sources',
  description:
    'Only for a contract whose match was withdrawn and that has no other. Nothing in it is verified: it shows what was withdrawn, and why.',
  tags: ['Contracts'],
  request: {
    params: contractParameters,
    query: z.object({
      after: z.string().optional().describe('`next` of the previous page of sources'),
      path: z.string().optional().describe('A source to include as `shown`'),
    }),
  },
  responses: {
    200: jsonResponse('The withdrawn match', withdrawnSchema),
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    404: problemResponse('No match of the contract was withdrawn (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});
