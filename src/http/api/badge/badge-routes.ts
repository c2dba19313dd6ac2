import { createRoute, z } from '@hono/zod-openapi';

import { addressParameter, chainIdParameter } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';

const BADGE_NAME = /^(0x[0-9a-fA-F]{40})\.svg$/;

/** GET /badge/{chainId}/{file}: a badge for a README. */
export const badgeRoute = createRoute({
  method: 'get',
  path: '/badge/{chainId}/{file}',
  summary: 'A badge that shows whether a contract is verified, for a README',
  description: 'Unverified addresses have a badge too.',
  tags: ['Contracts'],
  request: {
    params: z.object({
      chainId: chainIdParameter,
      file: z
        .string()
        .refine((name) => BADGE_NAME.test(name), 'an address and .svg are expected')
        .transform((name) => BADGE_NAME.exec(name)?.[1] ?? '')
        .pipe(addressParameter)
        .openapi({
          param: { description: 'The address, and .svg' },
          example: '0x00000000219ab540356cBB839Cbe05303d7705Fa.svg',
        }),
    }),
  },
  responses: {
    200: { description: 'The badge', content: { 'image/svg+xml': { schema: z.string() } } },
    304: { description: 'The client already has this content' },
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
  },
});
