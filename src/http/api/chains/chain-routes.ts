import { createRoute, z } from '@hono/zod-openapi';

import { CHAIN_RECORD_FIELDS } from '../../../chains/registry/chain-record-fields.ts';
import { chainRecordSchema } from '../../../chains/registry/chain-record-schema.ts';
import { problemResponse } from '../../problem-schema.ts';
import { crowdedResponses } from '../../records/record-responses.ts';
import { registryRoute } from './registry-route.ts';
import { jsonResponse } from '../../json-response.ts';

const PAGE_MAX = 1000;
const WORDS_MAX_CHARACTERS = 100;

/** Chains in a page where the client does not say. */
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

/** The reference to a chain in a path, as every route below /v1/chains takes it. */
export const chainReference = z.object({
  ref: z.string().openapi({
    param: { description: 'Decimal or hexadecimal id, CAIP-2 id, short name or name' },
    example: 'eip155:1',
  }),
});

/** What a reference that finds no single chain is answered. */
export const referenceProblems = {
  400: problemResponse('No reference to a chain (`invalid_parameter`)'),
  404: problemResponse('No such chain (`chain_not_found`)'),
  409: problemResponse('Several chains have this name (`ambiguous_chain_reference`)'),
} as const;

const chainPageSchema = z
  .strictObject({
    total: count.describe('Chains of the registry'),
    matching: count.describe('Chains that fit the filters, on all pages'),
    next: chainId
      .optional()
      .describe('The `after` of the next page; absent where there is no more'),
    results: z
      .array(chainRecordSchema.partial().required({ chainId: true }))
      .describe('Ascending chainId: chain records, or the chosen fields of them'),
  })
  .meta({ id: 'ChainPage', description: 'A page of the chains that were found' });

/** The body of GET /v1/chains/{ref}. */
export const chainDetailsSchema = z
  .strictObject({
    record: chainRecord,
    testnet: z.boolean().describe('By the words in its names'),
    local: z.boolean().describe("On the operator's machine or private network"),
    hasIcon: z.boolean().describe('Whether /v1/chains/{ref}/icon has its picture'),
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
          field: z.string().optional().describe('The field that it concerns'),
          message: z.string(),
        }),
      )
      .describe('Conflicts and what else was noticed of this chain, gravest first'),
    endpoints: z
      .array(
        z.strictObject({
          label: z.string().describe('The host of a public endpoint; private ones have a number'),
          public: z.boolean().describe('Whether it is in `rpc`'),
        }),
      )
      .describe('The endpoints that the service asks, in the order of preference'),
    list: z
      .strictObject({ source: z.string(), sha256: z.string() })
      .describe('The public list in force'),
  })
  .meta({ id: 'ChainDetails', description: 'A chain, and how the service came to its record' });

/** GET /v1/chains. */
export const searchRoute = createRoute({
  method: 'get',
  path: '/v1/chains',
  summary: 'Chains that fit some filters, a page at a time',
  description:
    'In ascending chainId, so that a page goes on where the one before ended. GET /chains is all of them at once.',
  tags,
  request: {
    query: z.object({
      supported: flag('Only chains whose contracts may be verified, or only the others'),
      monitored: flag('Only chains that are watched for new contracts, or only the others'),
      testnet: flag('Only testnets, or only the others'),
      status: z
        .enum(['active', 'incubating', 'deprecated'])
        .optional()
        .openapi({ param: { description: 'A chain that states none counts as active' } }),
      q: z
        .string()
        .max(WORDS_MAX_CHARACTERS, `at most ${WORDS_MAX_CHARACTERS} characters are expected`)
        .optional()
        .openapi({
          param: {
            description:
              'Words; each one occurs in the id, a name or the currency. Case and accents are ignored',
          },
          example: 'arbitrum sepolia',
        }),
      order: z
        .enum(['id', 'relevance'])
        .optional()
        .openapi({
          param: {
            description:
              '`relevance` has what q names whole first, then supported chains: one page, without a next one',
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
      limit: z
        .string()
        .regex(/^[1-9][0-9]{0,3}$/, `a number from 1 to ${PAGE_MAX} is expected`)
        .transform(Number)
        .refine((limit) => limit <= PAGE_MAX, `a number from 1 to ${PAGE_MAX} is expected`)
        .optional()
        .openapi({
          param: { description: `Chains in a page, 1 to ${PAGE_MAX} (${DEFAULT_PAGE})` },
          example: '50',
        }),
      after: z
        .string()
        .regex(/^[0-9]{1,16}$/, 'a chain id is expected')
        .transform(Number)
        .refine((id) => Number.isSafeInteger(id), 'a chain id is expected')
        .optional()
        .openapi({ param: { description: 'The `next` of the page before' } }),
    }),
  },
  responses: {
    200: jsonResponse('The page; an empty one when nothing fits', chainPageSchema),
    400: problemResponse('A parameter is not as it should be (`invalid_parameter`)'),
    ...crowdedResponses(problemResponse),
  },
});

/** GET /v1/chains/{ref}. */
export const detailsRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}',
  summary: 'A chain, and where each field of its record comes from',
  description: 'With its conflicts, and its endpoints by their labels.',
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
  summary: 'The picture of a chain',
  description: 'From the folder of pictures that the operator names; nothing is fetched.',
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
    304: { description: 'The picture that the client holds is this one' },
    ...referenceProblems,
    404: problemResponse('No such chain (`chain_not_found`), or no picture (`icon_not_found`)'),
    ...crowdedResponses(problemResponse),
  },
});

/** The routes of the chain registry. */
export const chainRoutes = [searchRoute, detailsRoute, chainIconRoute, registryRoute] as const;
