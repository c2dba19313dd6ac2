import { createRoute, z } from '@hono/zod-openapi';

import { addressParameter, chainIdParameter } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { FIELD_NAMES, TOPIC_NAMES } from './etherscan-fields.ts';
import { type Dialect } from './etherscan-texts.ts';
import { chainListSchema, etherscanAnswerSchema } from './etherscan-wire.ts';
import { jsonResponse } from '../../json-response.ts';

const tags = ['Etherscan protocol'];

const fieldsSchema = z
  .object(Object.fromEntries([...FIELD_NAMES].map((name) => [name, z.string().optional()])))
  .meta({
    id: 'EtherscanFields',
    description:
      'Parameters of the protocol, in the query or in the body. module is contract, and action verifysourcecode, checkverifystatus, getabi, getsourcecode, getcontractcreation, verifyproxycontract or checkproxyverification; or module is logs, and action getLogs. apikey is the token, where the service asks for one (`access.verify`). Others are ignored.',
  });

/** Query parameters of a GET. */
const querySchema = z.object(
  Object.fromEntries(
    [
      ...['module', 'action', 'chainid', 'address', 'contractaddresses', 'guid'],
      ...['expectedimplementation', 'apikey'],
      ...['fromBlock', 'toBlock', 'page', 'offset', ...TOPIC_NAMES],
    ].map((name) => [name, z.string().optional()]),
  ),
);

const answered = {
  200: jsonResponse(
    'Every response, including errors: status 1 and message OK, or status 0 and NOTOK',
    etherscanAnswerSchema,
  ),
  304: { description: 'The client already has this content' },
};

/** Creates the GET and the POST route at one path. */
function routesAt(path: string, dialect: Dialect) {
  const params = path.includes('{chainId}') ? z.object({ chainId: chainIdParameter }) : undefined;
  const shared = { path, tags, responses: answered };
  const inDialect = dialect === 'blockscout' ? ', as Blockscout implements it' : '';
  return {
    dialect,
    get: createRoute({
      ...shared,
      method: 'get',
      summary: `Read contracts with the Etherscan API${inDialect}`,
      request: { ...(params && { params }), query: querySchema },
    }),
    post: createRoute({
      ...shared,
      method: 'post',
      summary: `Verify contracts with the Etherscan API${inDialect}`,
      request: {
        ...(params && { params }),
        body: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': { schema: fieldsSchema },
            'multipart/form-data': { schema: fieldsSchema },
          },
        },
      },
    }),
  };
}

const atRoot = routesAt('/api', 'etherscan');

/** Paths of the protocol, and the dialect that clients expect at each. */
export const etherscanEndpoints = [
  atRoot,
  routesAt('/v2/api', 'etherscan'),
  routesAt('/evm/{chainId}/etherscan', 'etherscan'),
  routesAt('/evm/{chainId}/etherscan/api', 'etherscan'),
  routesAt('/evm/{chainId}/blockscout', 'blockscout'),
  routesAt('/evm/{chainId}/blockscout/api', 'blockscout'),
] as const;

/** One of these routes, for their common response type. */
export const etherscanRoute = atRoot.get;

/** GET /v2/chainlist. */
export const chainListRoute = createRoute({
  method: 'get',
  path: '/v2/chainlist',
  summary: 'The chains of the Etherscan API',
  tags,
  responses: {
    200: jsonResponse('The chains on which contracts can be verified', chainListSchema),
  },
});

const place = z.object({ chainId: chainIdParameter, address: addressParameter });

/**
 * Paths to which clients of the protocol send people for a contract page: next to or below the API URL that
 * they were given.
 */
export const explorerRoutes = [
  '/evm/{chainId}/address/{address}',
  '/evm/{chainId}/etherscan/address/{address}',
  '/evm/{chainId}/blockscout/address/{address}',
].map((path) =>
  createRoute({
    method: 'get',
    path,
    summary: 'Redirects to the page of a contract',
    tags,
    request: { params: place },
    responses: {
      302: { description: 'The location of the page' },
      400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    },
  }),
);

/** The routes of this file. */
export const etherscanRoutes = [
  ...etherscanEndpoints.flatMap(({ get, post }) => [get, post]),
  chainListRoute,
  ...explorerRoutes,
] as const;
