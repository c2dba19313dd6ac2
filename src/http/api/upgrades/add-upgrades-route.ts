import { type OpenAPIHono } from '@hono/zod-openapi';

import { readUpgrade, upgradesOf } from '../../../chains/proxy/read-upgrades.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { respondJson, REVALIDATED } from '../../answer.ts';
import { contractNotFound } from '../../contract-not-found.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { upgradesRoute } from './upgrades-route.ts';

const UPGRADES_SHOWN = 100;

/** Adds the route that lists the implementations of a proxy over time. */
export function addUpgradesRoute(
  routes: OpenAPIHono,
  { contracts, logs, clientOf }: Pick<HttpDependencies, 'contracts' | 'logs' | 'clientOf'>,
): void {
  routes.openapi(upgradesRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    // Requests for contracts that nobody verified cost no requests to endpoints.
    const isVerified = (await contracts.findVerified(chainId, [address])).has(address);
    if (!isVerified) throw contractNotFound(chainId, address);
    const client = clientOf(c);
    const events = await logs.find(chainId, upgradesOf(address), client);
    const all = events.logs.flatMap((log) => readUpgrade(log) ?? []).reverse();
    const shown = all.slice(0, UPGRADES_SHOWN);
    const implementations = [...new Set(shown.map(({ implementation }) => implementation))];
    const verified = await contracts.findVerified(chainId, implementations);
    const answer = {
      ...{ chainId, address: checksumAddress(address) },
      upgrades: shown.map(({ implementation, ...upgrade }) => {
        const found = verified.get(implementation);
        return {
          ...upgrade,
          implementation: checksumAddress(implementation),
          ...(found && { name: found.name, match: found.match, origin: found.origin }),
        };
      }),
      isComplete: events.isComplete && all.length === shown.length,
      lastBlock: events.lastBlock,
    };
    return respondJson(upgradesRoute, answer, REVALIDATED);
  });
}
