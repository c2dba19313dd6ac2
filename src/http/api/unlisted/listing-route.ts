import { createRoute } from '@hono/zod-openapi';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';
import { verifyRoute } from '../v2/verify-routes.ts';
import { refusalResponses } from '../submission-responses.ts';

/** POST /v1/contracts/{chainId}/{address}/list. */
export const listingRoute = createRoute({
  method: 'post',
  path: '/v1/contracts/{chainId}/{address}/list',
  summary: 'List an unlisted contract',
  description:
    'Verifies an unlisted contract again with its own sources and stores the match publicly. Requires a token, and is available if the operator has enabled unlisted contracts (`access.unlisted`).',
  tags: ['Verify'],
  request: { params: verifyRoute.request.params },
  responses: {
    202: verifyRoute.responses[202],
    ...refusalResponses(problemResponse),
    404: problemResponse('There is no unlisted contract at the address (`contract_not_found`)'),
    409: problemResponse('It is already listed (`already_verified`)'),
    ...overloadResponses(problemResponse),
  },
});
