import { createRoute, z } from '@hono/zod-openapi';

import {
  addressParameter,
  chainIdParameter,
  contractParameters,
} from '../../contract-parameters.ts';
import { isMatchId } from '../../match-id.ts';
import { overloadResponses, recordResponses } from '../../records/record-responses.ts';
import { CONTRACT_FIELDS } from './contract-fields.ts';
import { contractListSchema, contractSchema, minimalContractSchema } from './contract-schema.ts';
import { v2ErrorResponse } from './v2-error.ts';
import { jsonResponse } from '../../json-response.ts';

const PAGE_MAX = 200;

const invalidParameter = v2ErrorResponse('A parameter is invalid (`invalid_parameter`)');
const tags = ['Contracts'];
const fieldNames = [...CONTRACT_FIELDS.keys()].join(', ');

/** GET /v2/contract/{chainId}/{address}. */
export const contractRoute = createRoute({
  method: 'get',
  path: '/v2/contract/{chainId}/{address}',
  summary: 'A verified contract',
  description: 'The match and the requested fields of its evidence.',
  tags,
  request: {
    params: contractParameters,
    query: z.object({
      fields: z
        .string()
        .optional()
        .openapi({
          param: {
            description: `Comma-separated fields: ${fieldNames}; a member as compilation.name; or all, which is every field but proxyResolution: that is read from the chain`,
          },
          example: 'abi,compilation.name',
        }),
      omit: z
        .string()
        .optional()
        .openapi({
          param: { description: 'All fields except these; cannot be combined with `fields`' },
        }),
    }),
  },
  responses: {
    200: jsonResponse('The contract', contractSchema),
    400: invalidParameter,
    404: jsonResponse('The contract is not verified; every match is null', minimalContractSchema),
    ...recordResponses(v2ErrorResponse),
  },
});

/** GET /v2/contract/all-chains/{address}. */
export const allChainsRoute = createRoute({
  method: 'get',
  path: '/v2/contract/all-chains/{address}',
  summary: 'The verified contracts at an address, on all chains',
  description: 'Ordered by chainId.',
  tags,
  request: { params: z.object({ address: addressParameter }) },
  responses: {
    200: jsonResponse('At least one contract', contractListSchema),
    400: invalidParameter,
    404: jsonResponse('No contract: the list is empty', contractListSchema),
  },
});

/** GET /v2/contracts/{chainId}. */
export const contractsRoute = createRoute({
  method: 'get',
  path: '/v2/contracts/{chainId}',
  summary: 'The verified contracts of a chain, in pages',
  description:
    'Ordered by match id, which increases with every stored match; pass the last id of a page to get the next one. A contract whose match is upgraded moves to the newest end.',
  tags,
  request: {
    params: z.object({ chainId: chainIdParameter }),
    query: z.object({
      sort: z
        .enum(['asc', 'desc'])
        .default('desc')
        .openapi({ param: { description: 'asc: oldest match first; desc: newest first' } }),
      limit: z
        .string()
        .regex(/^[1-9][0-9]{0,2}$/, 'a number from 1 to 200 is expected')
        .transform(Number)
        .refine((limit) => limit <= PAGE_MAX, 'a number from 1 to 200 is expected')
        .optional()
        .openapi({ param: { description: 'Contracts per page, 1 to 200 (200)' }, example: '50' }),
      afterMatchId: z
        .string()
        .refine(isMatchId, 'a matchId is expected')
        .optional()
        .openapi({ param: { description: 'The last matchId of the previous page' } }),
    }),
  },
  responses: {
    200: jsonResponse('The page; empty after the last one', contractListSchema),
    400: invalidParameter,
    ...overloadResponses(v2ErrorResponse),
  },
});

/** Default number of contracts per page. */
export const DEFAULT_PAGE = PAGE_MAX;

/** The routes of this file, in the order in which they must be matched. */
export const v2ContractRoutes = [allChainsRoute, contractRoute, contractsRoute] as const;
