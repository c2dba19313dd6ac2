import { createRoute, z } from '@hono/zod-openapi';

import { addressParameter, chainIdParameter } from '../../contract-parameters.ts';
import { afterMatch, pageLimit } from '../../page-parameters.ts';
import { overloadResponses } from '../../records/record-responses.ts';
import { problemResponse } from '../../problem-schema.ts';
import { trustSchema } from '../../trust-schema.ts';
import { jsonResponse } from '../../json-response.ts';
import { matchSchema, originSchema } from '../../match-schema.ts';

const tags = ['Contracts'];
const PAGE_MAX = 200;

/** Default number of contracts per page. */
export const DEFAULT_PAGE = 50;

const contractSummarySchema = z
  .strictObject({
    chainId: z.int().min(1),
    address: z.string().describe('With its EIP-55 checksum'),
    match: matchSchema.describe('The better of the two matches'),
    runtimeMatch: matchSchema.nullable(),
    creationMatch: matchSchema.nullable(),
    name: z.string(),
    language: z.string(),
    compilerVersion: z.string(),
    origin: originSchema,
    trust: trustSchema,
    verifiedAt: z.iso.datetime().describe('When the current match was stored'),
    matchId: z.string().describe('Decimal digits; new evidence gets a higher number'),
  })
  .meta({ id: 'ContractSummary', description: 'A verified contract in a list' });

/** A page of contracts. */
export const contractPageSchema = z
  .strictObject({
    results: z.array(contractSummarySchema),
    next: z.string().nullable().describe('The `after` of the next page; null on the last one'),
  })
  .meta({ id: 'ContractPage', description: 'Contracts, in pages' });

const limit = pageLimit({ what: 'Contracts', most: PAGE_MAX, usual: DEFAULT_PAGE });
const after = z
  .string()
  .max(300, 'the `next` of a page is expected')
  .optional()
  .openapi({ param: { description: 'The `next` of the previous page' } });
const filters = {
  chain: chainIdParameter.optional(),
  match: matchSchema
    .optional()
    .openapi({ param: { description: 'Only contracts with this match' } }),
  origin: originSchema
    .optional()
    .openapi({ param: { description: 'Only matches of this origin' } }),
  trust: trustSchema
    .optional()
    .openapi({ param: { description: 'Only matches with at least this trust' } }),
};
const page = jsonResponse('The page; empty if nothing matches', contractPageSchema);
const badParameter = problemResponse('A parameter is invalid (`invalid_parameter`)');

/** GET /v1/contracts. */
export const newestRoute = createRoute({
  method: 'get',
  path: '/v1/contracts',
  summary: 'Verified contracts, newest first',
  description:
    'Ordered by the number of the current match. Matches stored later appear before the first page.',
  tags,
  request: {
    query: z.object({ ...filters, after: afterMatch, limit }),
  },
  responses: { 200: page, 400: badParameter, ...overloadResponses(problemResponse) },
});

/** GET /v1/contracts/search. */
export const searchContractsRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/search',
  summary: 'Verified contracts by address, name, code hash or creation transaction',
  description:
    'Text that begins with 0x is an address, at least its first 4 digits, or a hash of 32 bytes: the keccak256 of the runtime code, its SHA-256, or the hash of the creation transaction. Everything else is a name, or the beginning of a word in it: `proxy` and `uupsp` find UUPSProxy. With `chain`, `match`, `origin` or `trust`, each page checks a limited number of contracts: it may have fewer than `limit`, or none, and still have a `next`.',
  tags,
  request: {
    query: z.object({
      q: z
        .string()
        .transform((text) => text.trim())
        .refine(
          (text) => text.length >= 1 && text.length <= 100,
          '1 to 100 characters are expected',
        )
        .refine((text) => !text.includes('\0'), 'text is expected')
        .openapi({ param: { description: 'Address, name or hash' }, example: 'ERC20' }),
      ...filters,
      after,
      limit,
    }),
  },
  responses: { 200: page, 400: badParameter, ...overloadResponses(problemResponse) },
});

/** GET /v1/contracts/{chainId}/{address}/same-code. */
export const sameCodeRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/same-code',
  summary: 'Other verified contracts with the same runtime code, newest first',
  description: 'On every chain. Empty if the bytecode is unknown, as for some imported contracts.',
  tags,
  request: {
    params: z.object({ chainId: chainIdParameter, address: addressParameter }),
    query: z.object({ after: afterMatch, limit }),
  },
  responses: {
    200: page,
    400: badParameter,
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});
