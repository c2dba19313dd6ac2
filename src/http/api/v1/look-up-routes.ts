import { createRoute, z } from '@hono/zod-openapi';

import {
  addressParameter,
  chainIdParameter,
  contractParameters,
} from '../../contract-parameters.ts';
import { crowdedResponses, recordResponses } from '../../records/record-responses.ts';
import { v1ErrorResponse } from './v1-error.ts';

/** What one request may ask for, so that it stays one short query. */
const LIST_MAX = 100;
/** Contracts that a list without pages holds. */
export const CONTRACTS_MAX = 1000;

const tags = ['contracts'];
const invalidParameter = v1ErrorResponse('A parameter is not as it should be');
const notFound = v1ErrorResponse('The contract is not verified');

/** Comma-separated values, each once, at most {@link LIST_MAX}. */
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

/** GET /check-all-by-addresses. */
export const checkAllRoute = createRoute({
  method: 'get',
  path: '/check-all-by-addresses',
  summary: 'On which chains addresses are verified, full or partial (API v1)',
  tags,
  request: { query: batch },
  responses: {
    200: {
      description: 'An entry for each address, in the order asked',
      content: {
        'application/json': {
          schema: z.array(
            z.union([
              z.strictObject({
                address: z.string(),
                chainIds: z.array(
                  z.strictObject({
                    chainId: z.string(),
                    status: z.enum(['perfect', 'partial']),
                  }),
                ),
              }),
              unverified,
            ]),
          ),
        },
      },
    },
    400: invalidParameter,
    ...crowdedResponses(v1ErrorResponse),
  },
});

/** GET /check-by-addresses. */
export const checkFullRoute = createRoute({
  method: 'get',
  path: '/check-by-addresses',
  summary: 'On which chains addresses have full matches (API v1)',
  tags,
  request: { query: batch },
  responses: {
    200: {
      description: 'An entry for each address, in the order asked',
      content: {
        'application/json': {
          schema: z.array(
            z.union([
              z.strictObject({
                address: z.string(),
                status: z.literal('perfect'),
                chainIds: z.array(z.string()),
              }),
              unverified,
            ]),
          ),
        },
      },
    },
    400: invalidParameter,
    ...crowdedResponses(v1ErrorResponse),
  },
});

const status = z.enum(['full', 'partial']);

/** The body of GET /files/any/{chainId}/{address}. */
export const filesSchema = z.strictObject({
  status,
  files: z.array(z.strictObject({ name: z.string(), path: z.string(), content: z.string() })),
});

/** The body of GET /files/tree/any/{chainId}/{address}. */
export const fileTreeSchema = z.strictObject({ status, files: z.array(z.string()) });

/** GET /files/any/{chainId}/{address}. */
export const filesRoute = createRoute({
  method: 'get',
  path: '/files/any/{chainId}/{address}',
  summary: 'The files of a verified contract with their contents (API v1)',
  tags,
  request: { params: contractParameters },
  responses: {
    200: {
      description: 'The files, as the repository host publishes them',
      content: {
        'application/json': {
          schema: filesSchema,
        },
      },
    },
    400: invalidParameter,
    404: notFound,
    ...recordResponses(v1ErrorResponse),
  },
});

/** GET /files/tree/any/{chainId}/{address}. */
export const fileTreeRoute = createRoute({
  method: 'get',
  path: '/files/tree/any/{chainId}/{address}',
  summary: 'The URLs of the files of a verified contract (API v1)',
  tags,
  request: { params: contractParameters },
  responses: {
    200: {
      description: 'On the repository host; only paths where that host is another process',
      content: {
        'application/json': { schema: fileTreeSchema },
      },
    },
    400: invalidParameter,
    404: notFound,
    ...recordResponses(v1ErrorResponse),
  },
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
    200: {
      description: 'Addresses, the oldest match first',
      content: {
        'application/json': {
          schema: z.strictObject({ full: z.array(z.string()), partial: z.array(z.string()) }),
        },
      },
    },
    400: v1ErrorResponse('A parameter is not as it should be, or the chain has too many contracts'),
    ...crowdedResponses(v1ErrorResponse),
  },
});

/** The routes of this file. */
export const v1LookUpRoutes = [
  checkAllRoute,
  checkFullRoute,
  filesRoute,
  fileTreeRoute,
  fileContractsRoute,
] as const;
