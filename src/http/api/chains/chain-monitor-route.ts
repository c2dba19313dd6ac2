import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';

import { findChain } from '../../../chains/registry/chain-reference.ts';
import { CREATION_STATES } from '../../../monitor/inbox/creation-counts.ts';
import { MONITOR_STATUSES, type MonitorReport } from '../../../monitor/monitor-report.ts';
import { respondJson, type ResponseOf, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { chainReference, referenceProblems } from './chain-routes.ts';
import { jsonResponse } from '../../json-response.ts';

const count = z.int().min(0);
const time = z.iso.datetime();

const chainMonitorSchema = z
  .strictObject({
    chainId: z.int().min(1),
    monitored: z.boolean().describe('As in /chains: whether a monitor is configured and keeps up'),
    status: z
      .enum([...MONITOR_STATUSES, 'not_configured'])
      .describe(
        'behind: it is catching up. failing: see the fault. stalled: no progress for longer than `monitor.stallSeconds`',
      ),
    cursor: z
      .strictObject({
        startBlock: count.describe('The first block that is followed'),
        block: z.int().describe('The newest block up to which every creation is stored'),
        hash: z.string().optional(),
        head: count.optional().describe('The chain’s newest block when it was last read'),
        finalized: count.optional(),
        lagBlocks: count,
        currentAt: time.describe('When it last advanced or was up to date'),
      })
      .optional()
      .describe('Absent before the first block'),
    fault: z.strictObject({ code: z.string(), message: z.string(), since: time }).optional(),
    reorganisations: z
      .strictObject({
        count,
        newest: z.strictObject({ toBlock: count, at: time }).optional(),
      })
      .optional(),
    found: count.describe('Contract creations found so far'),
    creations: z
      .array(z.strictObject({ state: z.enum(CREATION_STATES), reason: z.string(), count }))
      .describe(
        'The states of the creations found and the reasons, most frequent first within a state',
      ),
    gaps: z
      .strictObject({
        backfillRanges: count.describe('Ranges of older blocks that are still to be read'),
        backfillBlocks: count,
        untracedBlocks: count.describe(
          'Blocks in which contracts created by contracts could not be found',
        ),
      })
      .optional(),
    notes: z.array(z.strictObject({ code: z.string(), detail: z.string() })),
  })
  .meta({ id: 'ChainMonitor', description: 'The monitor of a chain' });

/** GET /v1/chains/{ref}/monitor. */
export const chainMonitorRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}/monitor',
  summary: 'The monitor of a chain',
  description:
    'A few seconds old, whichever process follows the chain. `status` is `not_configured` if this process does not monitor it.',
  tags: ['Chains'],
  request: { params: chainReference },
  responses: {
    200: jsonResponse('The report', chainMonitorSchema),
    ...referenceProblems,
  },
});

/** Adds {@link chainMonitorRoute}. */
export function addChainMonitorRoute(
  routes: OpenAPIHono,
  { registry, monitors }: Pick<HttpDependencies, 'registry' | 'monitors'>,
): void {
  routes.openapi(chainMonitorRoute, (c) => {
    const { record } = findChain(registry(), c.req.valid('param').ref);
    const { chainId, monitored } = record;
    const report = monitors.report(chainId);
    const body =
      report === undefined
        ? { status: 'not_configured' as const, found: 0, creations: [], notes: [] }
        : renderMonitor(report);
    return respondJson(chainMonitorRoute, { chainId, monitored, ...body }, NOT_STORED);
  });
}

type Rendered = Omit<ResponseOf<typeof chainMonitorSchema>, 'chainId' | 'monitored'>;

function renderMonitor({ status, cursor, counts }: MonitorReport): Rendered {
  const creations = counts.map(({ state, reason, creations: each }) => ({
    ...{ state, reason },
    count: each,
  }));
  if (cursor === undefined) return { status, found: 0, creations, notes: [] };
  const { startBlock, number: block, hash, head, finalized, lag: lagBlocks, gaps } = cursor;
  const { fault, reorganised } = cursor;
  return {
    status,
    cursor: {
      ...{ startBlock, block, lagBlocks, currentAt: cursor.currentAt.toISOString() },
      ...(hash !== undefined && { hash }),
      ...(head !== undefined && { head }),
      ...(finalized !== undefined && { finalized }),
    },
    ...(fault && {
      fault: { code: fault.code, message: fault.message, since: fault.since.toISOString() },
    }),
    reorganisations: {
      count: cursor.reorganisations,
      ...(reorganised && {
        newest: { toBlock: reorganised.to, at: reorganised.at.toISOString() },
      }),
    },
    found: cursor.found,
    creations,
    gaps: {
      backfillRanges: gaps.backfillRanges,
      backfillBlocks: gaps.backfillBlocks,
      untracedBlocks: gaps.untracedBlocks,
    },
    notes: gaps.untracedBlocks === 0 ? [] : [UNTRACED],
  };
}

const UNTRACED = {
  code: 'contracts_of_contracts_not_seen',
  detail:
    'No endpoint traced some blocks: contracts made by contracts are not seen there. Configure an endpoint with trace_block or debug_traceBlockByNumber.',
};
