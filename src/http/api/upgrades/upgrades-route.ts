import { createRoute, z } from '@hono/zod-openapi';

import { contractParameters } from '../../contract-parameters.ts';
import { jsonResponse } from '../../json-response.ts';
import { problemResponse } from '../../problem-schema.ts';
import { matchSchema, originSchema } from '../../match-schema.ts';

const upgradeSchema = z.strictObject({
  implementation: z.string().describe('With its checksum (EIP-55)'),
  blockNumber: z.int(),
  transactionHash: z.string(),
  name: z.string().optional().describe('If the implementation is verified here'),
  match: matchSchema.optional().describe('The match of the implementation'),
  origin: originSchema.optional().describe('Who verified the implementation'),
});

/** The body of GET /v1/contracts/{chainId}/{address}/upgrades. */
const upgradesSchema = z
  .strictObject({
    chainId: z.int(),
    address: z.string().describe('With its checksum (EIP-55)'),
    upgrades: z.array(upgradeSchema).describe('Newest first, up to 100'),
    isComplete: z.boolean().describe('Whether these are all upgrades'),
    lastBlock: z
      .int()
      .describe(
        'All events up to this block were read; endpoints limit how many blocks they serve',
      ),
  })
  .meta({ id: 'ProxyUpgrades', description: 'The implementations of a proxy over time' });

/** GET /v1/contracts/{chainId}/{address}/upgrades. */
export const upgradesRoute = createRoute({
  method: 'get',
  path: '/v1/contracts/{chainId}/{address}/upgrades',
  summary: 'The implementations of a proxy over time',
  description:
    'Read from the `Upgraded(address)` events of the contract (EIP-1967), so it is empty for contracts that emit none. A proxy can emit what it likes: `proxyResolution` reads the current implementation from its storage.',
  tags: ['Contracts'],
  request: { params: contractParameters },
  responses: {
    200: jsonResponse('The upgrades', upgradesSchema),
    400: problemResponse('Contracts of this chain are not read here (`unsupported_chain`)'),
    404: problemResponse('The contract is not verified (`contract_not_found`)'),
    429: problemResponse('Too many contracts are being read (`queue_full`)'),
    503: problemResponse('No endpoint of the chain responded (`rpc_unreachable`)'),
  },
});
