import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';

import { type ChainIcons } from '../../../chains/registry/chain-icons.ts';
import { type ChainRegistry } from '../../../chains/registry/registry.ts';
import { chainRecordSchema } from '../../../chains/registry/chain-record-schema.ts';
import { respondWithSnapshot } from '../../snapshot-response.ts';
import { documentResponses } from '../../document-responses.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { makeSnapshot, type Snapshot } from '../../../publication/snapshot.ts';
import { jsonResponse } from '../../json-response.ts';

const { chainId, name, shortName, supported, monitored, status } = chainRecordSchema.shape;

const registryOverviewSchema = z
  .strictObject({
    list: z
      .strictObject({ source: z.string(), sha256: z.string() })
      .describe('The current public list'),
    chains: z
      .array(
        z.strictObject({
          chainId,
          name,
          shortName,
          currency: z.string().optional().describe('The symbol of the native currency'),
          currencyName: z.string().optional(),
          supported,
          monitored,
          testnet: z.boolean().describe('Detected from the words in its names'),
          status,
          health: z
            .enum(['unknown', 'up', 'degraded', 'down'])
            .optional()
            .describe('As seen by the process that responds; absent if the chain is not probed'),
          hasIcon: z
            .literal(true)
            .optional()
            .describe('Present if /v1/chains/{chainId}/icon has its icon'),
          warnings: z
            .array(z.string())
            .describe('Warnings: red flags and the codes of findings above info'),
        }),
      )
      .describe('Ascending chainId'),
  })
  .meta({ id: 'RegistryOverview', description: 'All chains, one line each' });

type RegistryOverview = z.infer<typeof registryOverviewSchema>;

/** GET /v1/registry. */
export const registryRoute = createRoute({
  method: 'get',
  path: '/v1/registry',
  summary: 'All chains, one line each',
  description: 'For chain tables: names, service status, health and warnings.',
  tags: ['Chains'],
  responses: {
    200: jsonResponse('The chains', registryOverviewSchema),
    ...documentResponses,
  },
});

/**
 * Adds {@link registryRoute}. The response is built once for each registry and state of the chains, not per
 * request.
 */
export function addRegistryRoute(
  routes: OpenAPIHono,
  { registry, chainHealth, icons }: Pick<HttpDependencies, 'registry' | 'chainHealth' | 'icons'>,
): void {
  let made:
    | { of: ChainRegistry; states: string; icons: ChainIcons; snapshot: Promise<Snapshot> }
    | undefined;
  routes.openapi(registryRoute, async (c) => {
    const of = registry();
    const healthOf = chainHealth.states();
    const states = [...healthOf].join('\n');
    const pictures = icons();
    if (made?.of !== of || made.states !== states || made.icons !== pictures) {
      const bytes = Buffer.from(JSON.stringify(renderRegistry(of, healthOf, pictures)));
      const before = made?.snapshot;
      const snapshot = async (): Promise<Snapshot> => makeSnapshot(bytes, new Date(), await before);
      made = { of, states, icons: pictures, snapshot: snapshot() };
    }
    return respondWithSnapshot(await made.snapshot, c.req.raw.headers);
  });
}

function renderRegistry(
  { chains, findings, listSource, listSha256 }: ChainRegistry,
  states: ReturnType<HttpDependencies['chainHealth']['states']>,
  icons: ChainIcons,
): RegistryOverview {
  const codes = new Map<number, string[]>();
  for (const { level, code, chainId } of findings) {
    if (level === 'info' || chainId === undefined) continue;
    codes.set(chainId, [...(codes.get(chainId) ?? []), code]);
  }
  return {
    list: { source: listSource, sha256: listSha256 },
    chains: chains.map(({ record, testnet }) => {
      const health = states.get(record.chainId);
      const { nativeCurrency, redFlags = [] } = record;
      return {
        chainId: record.chainId,
        name: record.name,
        ...(record.shortName !== undefined && { shortName: record.shortName }),
        ...(nativeCurrency && {
          currency: nativeCurrency.symbol,
          currencyName: nativeCurrency.name,
        }),
        supported: record.supported,
        monitored: record.monitored,
        testnet,
        ...(record.status !== undefined && { status: record.status }),
        ...(health !== undefined && { health }),
        ...(icons.has(record) && { hasIcon: true as const }),
        warnings: [...new Set([...redFlags, ...(codes.get(record.chainId) ?? [])])],
      };
    }),
  };
}
