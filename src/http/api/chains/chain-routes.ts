import { createRoute, z } from '@hono/zod-openapi';

import {
  CHAIN_RECORD_FIELDS,
  chainRecordSchema,
} from '../../../chains/registry/chain-record-schema.ts';
import { pageLimit } from '../../page-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';
import { registryRoute } from './registry-route.ts';
import { jsonResponse } from '../../json-response.ts';

const PAGE_MAX = 1000;
const WORDS_MAX_CHARACTERS = 100;

/** Default number of chains per page. */
export const DEFAULT_PAGE = 100;

const tags = ['Chains'];
const count = z.int().min(0);
const chainRecord = chainRecordSchema.meta({ id: 'ChainRecord' });
const chainId = chainRecordSchema.shape.chainId;

const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .openapi({ type: 'boolean', param: { description } });

/** Chain reference in the path of every route below /v1/chains. */
export const chainReference = z.object({
  ref: z.string().openapi({
    param: { description: 'Decimal or hexadecimal id, CAIP-2 id, short name or name' },
    example: 'eip155:1',
  }),
});

/** Responses to a reference that does not identify exactly one chain. */
export const referenceProblems = {
  400: problemResponse('Not a valid chain reference (`invalid_parameter`)'),
  404: problemResponse('No such chain (`chain_not_found`)'),
  409: problemResponse('Several chains have this name (`ambiguous_chain_reference`)'),
} as const;

const chainPageSchema = z
  .strictObject({
    total: count.describe('Chains of the registry'),
    matching: count.describe('Number of chains that match the filters, on all pages'),
    next: chainId.optional().describe('The `after` of the next page; absent on the last one'),
    results: z
      .array(chainRecordSchema.partial().required({ chainId: true }))
      .describe('Ascending chainId: chain records, or the chosen fields of them'),
  })
  .meta({ id: 'ChainPage', description: 'A page of matching chains' });

/** The body of GET /v1/chains/{ref}. */
export const chainDetailsSchema = z
  .strictObject({
    record: chainRecord,
    testnet: z.boolean().describe('Detected from the words in its names'),
    local: z.boolean().describe("On the operator's machine or private network"),
    hasIcon: z.boolean().describe('Whether /v1/chains/{ref}/icon has its icon'),
    origins: z
      .record(z.string(), z.string())
      .describe(
        'Where each field of the record comes from: list, default configuration, configuration, derived, service, or two of them with + between',
      ),
    findings: z
      .array(
        z.strictObject({
          level: z.enum(['error', 'warning', 'info']),
          code: z.string().describe('Stable; such as reused_chain_id'),
          field: z.string().optional().describe('The field concerned'),
          message: z.string(),
        }),
      )
      .describe('Conflicts and other findings about this chain, most severe first'),
    endpoints: z
      .array(
        z.strictObject({
          label: z.string().describe('The host of a public endpoint; private ones are numbered'),
          public: z.boolean().describe('Whether it is in `rpc`'),
        }),
      )
      .describe('The endpoints that the service uses, in order of preference'),
    list: z
      .strictObject({ source: z.string(), sha256: z.string() })
      .describe('The current public list'),
  })
  .meta({ id: 'ChainDetails', description: 'A chain, and the sources of its record' });

/** GET /v1/chains. */
export const searchRoute = createRoute({
  method: 'get',
  path: '/v1/chains',
  summary: 'Chains that match filters, in pages',
  description: 'Ordered by chainId. GET /chains returns all of them at once.',
  tags,
  request: {
    query: z.object({
      supported: flag('Only chains on which contracts can be verified, or only the others'),
      monitored: flag('Only monitored chains, or only the others'),
      testnet: flag('Only testnets, or only the others'),
      status: z
        .enum(['active', 'incubating', 'deprecated'])
        .optional()
        .openapi({ param: { description: 'A chain without a status counts as active' } }),
      q: z
        .string()
        .max(WORDS_MAX_CHARACTERS, `at most ${WORDS_MAX_CHARACTERS} characters are expected`)
        .optional()
        .openapi({
          param: {
            description:
              'Words that must all occur in the id, a name or the currency; case and accents are ignored',
          },
          example: 'arbitrum sepolia',
        }),
      order: z
        .enum(['id', 'relevance'])
        .optional()
        .openapi({
          param: {
            description:
              '`relevance` puts exact matches of q first, then supported chains, and returns a single page',
          },
        }),
      fields: z
        .string()
        .optional()
        .openapi({
          param: {
            description: `Comma-separated fields of the records, chainId always included: ${CHAIN_RECORD_FIELDS.join(', ')}`,
          },
          example: 'name,shortName',
        }),
      limit: pageLimit({ what: 'Chains', most: PAGE_MAX, usual: DEFAULT_PAGE }),
      after: z
        .string()
        .regex(/^[0-9]{1,16}$/, 'a chain id is expected')
        .transform(Number)
        .refine((id) => Number.isSafeInteger(id), 'a chain id is expected')
        .optional()
        .openapi({ param: { description: 'The `next` of the previous page' } }),
    }),
  },
  responses: {
    200: jsonResponse('The page; empty if nothing matches', chainPageSchema),
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    ...overloadResponses(problemResponse),
  },
});

/** GET /v1/chains/{ref}. */
export const detailsRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}',
  summary: 'A chain, and the source of each field of its record',
  description: 'With its conflicts and the labels of its endpoints.',
  tags,
  request: { params: chainReference },
  responses: {
    200: jsonResponse('The chain', chainDetailsSchema),
    ...referenceProblems,
  },
});

const picture = { schema: { type: 'string' as const, contentMediaType: 'image/*' } };

/** GET /v1/chains/{ref}/icon. */
export const chainIconRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}/icon',
  summary: 'The icon of a chain',
  description: 'From the operator’s icon folder; nothing is fetched.',
  tags,
  request: { params: chainReference },
  responses: {
    200: {
      description: 'The picture',
      content: {
        'image/svg+xml': picture,
        'image/png': picture,
        'image/webp': picture,
        'image/jpeg': picture,
        'image/gif': picture,
      },
    },
    304: { description: 'The client already has this icon' },
    ...referenceProblems,
    404: problemResponse('No such chain (`chain_not_found`), or no icon (`icon_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});

/** The routes of the chain registry. */
export const chainRoutes = [searchRoute, detailsRoute, chainIconRoute, registryRoute] as const;
