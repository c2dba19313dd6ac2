import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { sourcesBodySchema } from './sources-body.ts';
import { jsonResponse } from '../../json-response.ts';

const tags = ['Verify'];

/** POST /v1/verify/sources/{chainId}/{address}. */
export const verifySourcesRoute = createRoute({
  method: 'post',
  path: '/v1/verify/sources/{chainId}/{address}',
  summary: 'Verify a contract by its sources as they were written',
  description:
    'The service makes the standard JSON input. It fetches no import: all that is imported must be among the files.',
  tags,
  request: {
    params: contractParameters,
    body: { required: true, content: { 'application/json': { schema: sourcesBodySchema } } },
  },
  responses: {
    202: jsonResponse(
      'The verification waits in the queue',
      z
        .strictObject({
          verificationId: z.uuid().describe('Ask for it at /v1/jobs/{id}'),
        })
        .meta({ id: 'Submitted', description: 'A verification that was put into the queue' }),
    ),
    400: problemResponse(
      'The request is not as it should be (`invalid_parameter`, `invalid_json`, `unsupported_chain`), or files are missing that others import (`missing_sources`, each in `missingSources`)',
    ),
    401: problemResponse(
      'A token is needed (`token_required`), or this one is unknown (`token_unknown`)',
    ),
    403: problemResponse('Nothing that is sent is verified here (`verification_off`)'),
    409: problemResponse('Both matches are exact already (`already_verified`)'),
    413: problemResponse('The body is too large, or holds too much'),
    415: problemResponse('The body is compressed (`unsupported_content_coding`)'),
    429: problemResponse(
      'This input is being verified (`duplicate_verification_request`), too many wait (`queue_full`), or this client sends too much in an hour (`too_many_verifications`)',
    ),
    503: problemResponse('Too many request bodies are being read (`too_many_bodies`)'),
  },
});

/** GET /v1/verify/proposal/{chainId}/{address}. */
export const proposalRoute = createRoute({
  method: 'get',
  path: '/v1/verify/proposal/{chainId}/{address}',
  summary: 'The compiler named by the code on chain',
  description:
    'Solidity writes its version into the code since 0.5.9, Vyper did from 0.3.4 to 0.3.9. It proves nothing.',
  tags,
  request: { params: contractParameters },
  responses: {
    200: jsonResponse(
      'The compiler, if the code names one',
      z
        .strictObject({
          compiler: z.enum(['solc', 'vyper']).optional().describe('solc compiles Solidity and Yul'),
          compilerVersion: z
            .string()
            .optional()
            .describe('Absent if the code does not name it')
            .meta({ example: '0.8.30+commit.73712a01' }),
          from: z.enum(['auxdata', 'none']).describe('Where the version was found'),
        })
        .meta({ id: 'CompilerProposal', description: 'A compiler that may have been used' }),
    ),
    400: problemResponse('The chain is not one that is verified here (`unsupported_chain`)'),
    404: problemResponse('There is no code at the address (`contract_not_deployed`)'),
    429: problemResponse('Too many contracts are being read (`queue_full`)'),
    503: problemResponse('Too few endpoints of the chain answered (`cannot_fetch_bytecode`)'),
  },
});

/** The routes of this file. */
export const sourcesRoutes = [verifySourcesRoute, proposalRoute] as const;
