import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';

import { findChain } from '../../../chains/registry/chain-reference.ts';
import { ENDPOINT_STATES } from '../../../chains/health/endpoint-state.ts';
import {
  type ChainHealthReport,
  type EndpointReport,
} from '../../../chains/health/health-report.ts';
import { respondJson, type ResponseOf, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { chainReference, referenceProblems } from './chain-routes.ts';
import { jsonResponse } from '../../json-response.ts';

const count = z.int().min(0);
const time = z.iso.datetime();
const capability = z.enum(['yes', 'no', 'unknown']);

const reasons = z.array(
  z.strictObject({
    code: z.string().describe('Stable; programs branch on it'),
    detail: z.string().describe('The same as text'),
  }),
);

const endpointHealthSchema = z.strictObject({
  label: z.string().describe('The host of a public endpoint; private ones are numbered'),
  public: z.boolean().describe('Whether it is in `rpc`'),
  state: z
    .enum([...ENDPOINT_STATES, 'not_probed'])
    .describe(
      'throttled: it limits our requests. down: five probes failed. wrong_chain: not used until the configuration changes',
    ),
  since: time.optional().describe('When the state began'),
  reasons: reasons.describe('The reasons; empty if there are none'),
  checkedAt: time.optional().describe('When it was last probed'),
  head: z
    .strictObject({
      number: count,
      timestamp: time,
      seenAt: time,
      ageSeconds: count
        .optional()
        .describe('When it was observed; absent if it lies in the future'),
    })
    .optional()
    .describe('The newest block it returned'),
  lagBlocks: count.optional().describe('Blocks it was behind another endpoint'),
  latency: z
    .strictObject({ p50Ms: z.number(), p95Ms: z.number(), samples: count })
    .optional()
    .describe('From recent responses, without the first one'),
  archive: capability.describe('Whether it has the state of old blocks'),
  trace: capability.describe('Whether it traces calls or transactions'),
});

const chainHealthSchema = z
  .strictObject({
    chainId: z.int().min(1),
    state: z
      .enum(['unknown', 'up', 'degraded', 'down', 'not_probed'])
      .describe('degraded: some endpoints are not up. not_probed: see the reason'),
    since: time.optional().describe('When the state began'),
    reasons,
    secondsPerBlock: z.number().optional().describe('The usual time between blocks, as observed'),
    endpoints: z.array(endpointHealthSchema).describe('In the order of the chain’s endpoints'),
  })
  .meta({ id: 'ChainHealth', description: 'The health of a chain and its endpoints' });

/** GET /v1/chains/{ref}/health. */
export const chainHealthRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}/health',
  summary: 'The health of a chain’s endpoints',
  description:
    'As seen by the process that responds. Configured chains are probed, and other supported chains lightly (`health.supportedChains`); the rest have the state `not_probed`.',
  tags: ['Chains'],
  request: { params: chainReference },
  responses: {
    200: jsonResponse('The report', chainHealthSchema),
    ...referenceProblems,
  },
});

/** Adds {@link chainHealthRoute}. */
export function addChainHealthRoute(
  routes: OpenAPIHono,
  { registry, chainHealth }: Pick<HttpDependencies, 'registry' | 'chainHealth'>,
): void {
  routes.openapi(chainHealthRoute, (c) => {
    const chain = findChain(registry(), c.req.valid('param').ref);
    return respondJson(chainHealthRoute, renderHealth(chainHealth.report(chain)), NOT_STORED);
  });
}

/** Renders times as text and keeps all other facts of the report. */
function renderHealth(report: ChainHealthReport): ResponseOf<typeof chainHealthSchema> {
  const { chainId, state, since, reasons: why, endpoints, ...facts } = report;
  return {
    ...{ chainId, state },
    ...(since && { since: since.toISOString() }),
    reasons: why,
    ...facts,
    endpoints: endpoints.map(renderEndpoint),
  };
}

function renderEndpoint(endpoint: EndpointReport): ResponseOf<typeof endpointHealthSchema> {
  const { label, state, since, checkedAt, head, reasons: why, ...facts } = endpoint;
  return {
    ...{ label, public: facts.public, state },
    ...(since && { since: since.toISOString() }),
    reasons: why,
    ...(checkedAt && { checkedAt: checkedAt.toISOString() }),
    ...(head && {
      head: {
        ...head,
        timestamp: head.timestamp.toISOString(),
        seenAt: head.seenAt.toISOString(),
      },
    }),
    ...facts,
  };
}
