import { createRoute, z } from '@hono/zod-openapi';

import {
  addressParameter,
  chainIdParameter,
  contractParameters,
} from '../../contract-parameters.ts';
import { overloadResponses, recordResponses } from '../../records/record-responses.ts';
import { proxyResolutionSchema } from '../v2/contract-schema.ts';
import { v1ErrorResponse } from './v1-error.ts';
import { jsonResponse } from '../../json-response.ts';

/** Most values of a list parameter; keeps the query short. */
const LIST_MAX = 100;
/** Most contracts of a request with proxy resolution: each one reads endpoints of its chain. */
export const RESOLVED_MAX = 16;
/** Most contracts in a list without pages. */
export const CONTRACTS_MAX = 1000;
/** Last contract that pages by number reach: PostgreSQL must skip all that come before a page. */
export const PAGED_CONTRACTS_MAX = 20_000;

const tags = ['Contracts'];
const invalidParameter = v1ErrorResponse('A parameter is invalid');
const notFound = v1ErrorResponse('The contract is not verified');
const noFullMatch = v1ErrorResponse('The contract has no full match');

/** Schema of comma-separated distinct values, at most {@link LIST_MAX}. */
function listParameter<Value extends z.ZodType<unknown, string>>(value: Value, example: string) {
  return z
    .string()
    .transform((list) => [...new Set(list.split(',').map((each) => each.trim()))])
    .pipe(z.array(value).max(LIST_MAX, `at most ${LIST_MAX} values are expected`))
    .openapi({
      type: 'string',
      param: { description: `With commas between them, at most ${LIST_MAX}` },
      example,
    });
}

const batch = z.object({
  addresses: listParameter(addressParameter, '0x00000000219ab540356cBB839Cbe05303d7705Fa'),
  chainIds: listParameter(chainIdParameter, '1,5'),
});

const unverified = z.strictObject({ address: z.string(), status: z.literal('false') });

const entriesOf = <Verified extends z.ZodType>(verified: Verified) => ({
  200: jsonResponse(
    'An entry for each address, in the order of the request',
    z.array(z.union([verified, unverified])),
  ),
  400: invalidParameter,
  ...overloadResponses(v1ErrorResponse),
});

const checkAll = {
  method: 'get' as const,
  summary: 'The chains on which addresses have a full or partial match (API v1)',
  tags,
  request: {
    query: batch.extend({
      resolveProxies: z
        .enum(['true', 'false'])
        .default('false')
        .openapi({
          param: {
            description: `Whether to read from their chains what the contracts delegate to, of at most ${RESOLVED_MAX}`,
          },
        }),
    }),
  },
  responses: entriesOf(
    z.strictObject({
      address: z.string(),
      chainIds: z.array(
        z.strictObject({
          chainId: z.string(),
          status: z.enum(['perfect', 'partial']),
          ...proxyResolutionSchema.shape,
          proxyResolutionError: z.string().optional(),
        }),
      ),
    }),
  ),
};
/** GET /check-all-by-addresses. */
export const checkAllRoute = createRoute({ ...checkAll, path: '/check-all-by-addresses' });
/** GET /checkAllByAddresses: an alias for older tools. */
export const checkAllOldRoute = createRoute({ ...checkAll, path: '/checkAllByAddresses' });

const checkFull = {
  method: 'get' as const,
  summary: 'The chains on which addresses have a full match (API v1)',
  tags,
  request: { query: batch },
  responses: entriesOf(
    z.strictObject({
      address: z.string(),
      status: z.literal('perfect'),
      chainIds: z.array(z.string()),
    }),
  ),
};
/** GET /check-by-addresses. */
export const checkFullRoute = createRoute({ ...checkFull, path: '/check-by-addresses' });
/** GET /checkByAddresses: an alias for older tools. */
export const checkFullOldRoute = createRoute({ ...checkFull, path: '/checkByAddresses' });

const status = z.enum(['full', 'partial']);

const files = z.array(z.strictObject({ name: z.string(), path: z.string(), content: z.string() }));

/** The body of GET /files/any/{chainId}/{address}. */
export const filesSchema = z.strictObject({ status, files });

/** The body of GET /files/tree/any/{chainId}/{address}. */
export const fileTreeSchema = z.strictObject({ status, files: z.array(z.string()) });

const FILES = 'The files as published on the repository host';
const FILE_URLS = 'URLs on the repository host; only paths if that host is another process';

/** A route of the files of a verified contract. */
const contractFiles = <Path extends string, Body extends z.ZodType>(
  path: Path,
  {
    summary,
    found,
    missing = notFound,
  }: {
    readonly summary: string;
    readonly found: readonly [description: string, body: Body];
    readonly missing?: typeof notFound;
  },
) =>
  createRoute({
    ...{ method: 'get', path, summary, tags },
    request: { params: contractParameters },
    responses: {
      200: jsonResponse(...found),
      400: invalidParameter,
      404: missing,
      ...recordResponses(v1ErrorResponse),
    },
  });

/** GET /files/any/{chainId}/{address}. */
export const filesRoute = contractFiles('/files/any/{chainId}/{address}', {
  summary: 'The files of a verified contract with their contents (API v1)',
  found: [FILES, filesSchema],
});

/** GET /files/tree/any/{chainId}/{address}. */
export const fileTreeRoute = contractFiles('/files/tree/any/{chainId}/{address}', {
  summary: 'The URLs of the files of a verified contract (API v1)',
  found: [FILE_URLS, fileTreeSchema],
});

/** GET /files/{chainId}/{address}. */
export const fullFilesRoute = contractFiles('/files/{chainId}/{address}', {
  summary: 'The files of a contract with a full match (API v1)',
  found: [FILES, files],
  missing: noFullMatch,
});

/** GET /files/tree/{chainId}/{address}. */
export const fullFileTreeRoute = contractFiles('/files/tree/{chainId}/{address}', {
  summary: 'The URLs of the files of a contract with a full match (API v1)',
  found: [FILE_URLS, z.array(z.string())],
  missing: noFullMatch,
});

/** GET /files/contracts/{chainId}. */
export const fileContractsRoute = createRoute({
  method: 'get',
  path: '/files/contracts/{chainId}',
  summary: 'The addresses of all verified contracts of a chain (API v1)',
  description: `Without pages: of a chain with more than ${CONTRACTS_MAX} contracts, ask GET /v2/contracts/{chainId}.`,
  tags,
  request: { params: z.object({ chainId: chainIdParameter }) },
  responses: {
    200: jsonResponse(
      'Addresses, the oldest match first',
      z.strictObject({ full: z.array(z.string()), partial: z.array(z.string()) }),
    ),
    400: v1ErrorResponse('A parameter is invalid, or the chain has too many contracts'),
    ...overloadResponses(v1ErrorResponse),
  },
});

const PAGE_LIMIT = 200;

/** Schema of a whole number in a query within a range, with a default. */
function wholeNumber([least, most]: readonly [number, number], byDefault: number) {
  const expected = `a whole number from ${least} to ${most} is expected`;
  return z
    .string()
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((value) => value >= least && value <= most, expected)
    .optional()
    .transform((value) => value ?? byDefault)
    .openapi({ type: 'integer', minimum: least, maximum: most, default: byDefault });
}

/** GET /files/contracts/{full|partial|any}/{chainId}. */
export const addressPageRoute = createRoute({
  method: 'get',
  path: '/files/contracts/{match}/{chainId}',
  summary: 'The addresses of the verified contracts of a chain in pages (API v1)',
  description: `Pages reach ${PAGED_CONTRACTS_MAX} contracts deep; beyond them, ask GET /v2/contracts/{chainId}.`,
  tags,
  request: {
    params: z.object({ match: z.enum(['full', 'partial', 'any']), chainId: chainIdParameter }),
    query: z.object({
      page: wholeNumber([0, PAGED_CONTRACTS_MAX], 0),
      limit: wholeNumber([1, PAGE_LIMIT], PAGE_LIMIT),
      order: z.enum(['asc', 'desc']).default('asc'),
    }),
  },
  responses: {
    200: jsonResponse(
      'A page of addresses, ordered by match',
      z.strictObject({
        results: z.array(z.string()),
        pagination: z.strictObject({
          currentPage: z.int(),
          totalPages: z.int(),
          resultsPerPage: z.int(),
          resultsCurrentPage: z.int(),
          totalResults: z.int(),
          hasNextPage: z.boolean(),
          hasPreviousPage: z.boolean(),
        }),
      }),
    ),
    400: v1ErrorResponse('A parameter is invalid, or the page is too deep'),
    ...overloadResponses(v1ErrorResponse),
  },
});

/** The routes of this file. */
export const v1LookUpRoutes = [
  checkAllRoute,
  checkAllOldRoute,
  checkFullRoute,
  checkFullOldRoute,
  filesRoute,
  fullFilesRoute,
  fileTreeRoute,
  fullFileTreeRoute,
  fileContractsRoute,
  addressPageRoute,
] as const;
