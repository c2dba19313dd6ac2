import { createRoute } from '@hono/zod-openapi';
import { problemResponse } from '../../problem-schema.ts';
import { crowdedResponses } from '../../records/record-responses.ts';
import { verifyRoute } from '../v2/verify-routes.ts';

/** POST /v1/contracts/{chainId}/{address}/list. */
export const listingRoute = createRoute({
  method: 'post',
  path: '/v1/contracts/{chainId}/{address}/list',
  summary: 'List an unlisted contract',
  description:
    'Verifies an unlisted contract once more, by its own sources, and stores the match among those that everybody sees. It needs a token, and is there where the operator has switched unlisted contracts on (`access.unlisted`).',
  tags: ['Verify'],
  request: { params: verifyRoute.request.params },
  responses: {
    202: verifyRoute.responses[202],
    401: problemResponse(
      'A token is needed (`token_required`), or this one is unknown (`token_unknown`)',
    ),
    403: problemResponse('Nothing is verified here (`verification_off`)'),
    404: problemResponse('No unlisted contract has the address (`contract_not_found`)'),
    409: problemResponse('It is listed already (`already_verified`)'),
    ...crowdedResponses(problemResponse),
  },
});
