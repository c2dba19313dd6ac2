import { createRoute, z } from '@hono/zod-openapi';

import { v1ErrorResponse } from './v1-error.ts';
import { verifyBodySchema } from './verify-request.ts';
import { jsonResponse } from '../../json-response.ts';

/** Match names on the wire of the verification API v1. */
export const V1_STATUS = { full: 'perfect', partial: 'partial' } as const;

const resultSchema = z
  .strictObject({
    result: z.array(
      z.strictObject({
        address: z.string(),
        chainId: z.string(),
        status: z.enum(Object.values(V1_STATUS)),
        storageTimestamp: z.iso.datetime().optional(),
      }),
    ),
  })
  .meta({ id: 'V1VerifyResult', description: 'The match that was found' });

const choiceSchema = z
  .strictObject({
    error: z.string(),
    contractsToChoose: z
      .array(z.strictObject({ name: z.string(), path: z.string() }))
      .optional()
      .describe('If the files describe several contracts and none was chosen'),
  })
  .meta({ id: 'V1VerifyError', description: 'Why there is no match' });

const verification = {
  method: 'post' as const,
  summary: 'Verify a contract by its metadata and sources, and wait for the result',
  tags: ['Verify'],
  request: {
    body: {
      required: true,
      content: {
        'application/json': { schema: verifyBodySchema },
        'multipart/form-data': { schema: verifyBodySchema },
      },
    },
  },
  responses: {
    200: jsonResponse('The contract matches', resultSchema),
    400: jsonResponse('The request or the sources are invalid', choiceSchema),
    401: v1ErrorResponse('A token is required, or it is unknown'),
    403: v1ErrorResponse('Verification is turned off'),
    404: v1ErrorResponse('The request holds no files'),
    413: v1ErrorResponse('The body is too large or contains too much'),
    415: v1ErrorResponse('The body is compressed'),
    422: v1ErrorResponse('The bytecode on chain differs from the compiled bytecode'),
    429: v1ErrorResponse(
      'The queue is full, or this client has sent too many verifications in the last hour',
    ),
    503: v1ErrorResponse('It could not be checked; try again later'),
  },
};

/** POST /verify. */
export const v1VerifyRoute = createRoute({ ...verification, path: '/verify' });
/** POST /: an alias. */
export const v1RootRoute = createRoute({ ...verification, path: '/' });

/** The routes of this file. */
export const v1VerifyRoutes = [v1RootRoute, v1VerifyRoute] as const;
