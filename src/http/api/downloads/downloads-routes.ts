import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';

/** Files that can be downloaded for a contract. */
export const DOWNLOADS = ['sources.zip', 'standard-input.json', 'abi.json'] as const;

/** GET /v1/contracts/{chainId}/{address}/files/{file}. */
export const downloadRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/files/{file}',
  summary: 'A verified contract as a file for tools',
  description:
    'standard-input.json can be passed to the compiler unchanged (`solc --standard-json`) and reproduces this contract; the name under which it is saved has the compiler version. sources.zip contains the published tree, this file and the ABI.',
  tags: ['Contracts'],
  request: {
    params: contractParameters.extend({ file: z.enum(DOWNLOADS) }),
  },
  responses: {
    200: {
      description: 'The file',
      content: {
        'application/json': { schema: z.unknown() },
        'application/zip': { schema: z.string().meta({ format: 'binary' }) },
      },
    },
    304: { description: 'The client already has this content' },
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});
