import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { sourcesBodySchema } from './sources-body.ts';
import { jsonResponse } from '../../json-response.ts';
import { submissionResponses } from '../submission-responses.ts';

const tags = ['Verify'];

/** POST /v1/verify/sources/{chainId}/{address}. */
export const verifySourcesRoute = createRoute({
  method: 'post',
  path: '/v1/verify/sources/{chainId}/{address}',
  summary: 'Verify a contract by its source files',
  description:
    'The service builds the standard JSON input. It fetches nothing: all imported files must be included.',
  tags,
  request: {
    params: contractParameters,
    body: { required: true, content: { 'application/json': { schema: sourcesBodySchema } } },
  },
  responses: {
    202: jsonResponse(
      'The verification is in the queue',
      z
        .strictObject({
          verificationId: z.uuid().describe('Poll /v1/jobs/{id}'),
        })
        .meta({ id: 'Submitted', description: 'A verification in the queue' }),
    ),
    400: problemResponse(
      'The request is invalid (`invalid_parameter`, `invalid_json`, `unsupported_chain`), or imported files are missing (`missing_sources`, listed in `missingSources`)',
    ),
    ...submissionResponses(problemResponse),
    413: problemResponse('The body is too large or contains too much'),
    429: problemResponse(
      'This input is already being verified (`duplicate_verification_request`), the queue is full (`queue_full`), or this client has sent too many verifications in the last hour (`too_many_verifications`)',
    ),
  },
});

/** GET /v1/verify/proposal/{chainId}/{address}. */
export const proposalRoute = createRoute({
  method: 'get',
  path: '/v1/verify/proposal/{chainId}/{address}',
  summary: 'The compiler named in the bytecode on chain',
  description:
    'Solidity has written its version into the bytecode since 0.5.9, Vyper from 0.3.4 to 0.3.9. It proves nothing.',
  tags,
  request: { params: contractParameters },
  responses: {
    200: jsonResponse(
      'The compiler, if the bytecode names one',
      z
        .strictObject({
          codeBytes: z.int().describe('Size of the runtime bytecode'),
          compiler: z.enum(['solc', 'vyper']).optional().describe('solc compiles Solidity and Yul'),
          compilerVersion: z
            .string()
            .optional()
            .describe('Absent if the bytecode does not name it')
            .meta({ example: '0.8.30+commit.73712a01' }),
          from: z.enum(['auxdata', 'none']).describe('Where the version was found'),
        })
        .meta({ id: 'CompilerProposal', description: 'A compiler that may have been used' }),
    ),
    400: problemResponse('Contracts on this chain cannot be verified here (`unsupported_chain`)'),
    404: problemResponse('There is no bytecode at the address (`contract_not_deployed`)'),
    429: problemResponse('Too many contracts are being read (`queue_full`)'),
    503: problemResponse('Too few endpoints of the chain responded (`cannot_fetch_bytecode`)'),
  },
});

/** The routes of this file. */
export const sourcesRoutes = [verifySourcesRoute, proposalRoute] as const;
