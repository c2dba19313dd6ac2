import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';

import { findChain } from '../../../chains/registry/chain-reference.ts';
import { CREATION_STATES } from '../../../monitor/inbox/creation-counts.ts';
import { MONITOR_STATUSES, type MonitorReport } from '../../../monitor/monitor-report.ts';
import { answerJson, type AnswerOf, NOT_STORED } from '../../answer.ts';
import { type HttpParts } from '../../http-parts.ts';
import { chainReference, referenceProblems } from './chain-routes.ts';
import { jsonResponse } from '../../json-response.ts';

const count = z.int().min(0);
const time = z.iso.datetime();

const chainMonitorSchema = z
  .strictObject({
    chainId: z.int().min(1),
    monitored: z.boolean().describe('As in /chains: a monitor is configured and keeps up'),
    status: z
      .enum([...MONITOR_STATUSES, 'not_configured'])
      .describe(
        'behind: it catches up. failing: the fault says why. stalled: it stood still for longer than its bound',
      ),
    cursor: z
      .strictObject({
        startBlock: count.describe('The first block that is followed'),
        block: z.int().describe('The newest block up to which every creation is stored'),
        hash: z.string().optional(),
        head: count.optional().describe('The newest block of the chain, when it was last read'),
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
    found: count.describe('Creations that were ever seen'),
    creations: z
      .array(z.strictObject({ state: z.enum(CREATION_STATES), reason: z.string(), count }))
      .describe('What became of them, and why; most first within a state'),
    gaps: z
      .strictObject({
        backfillRanges: count.describe('Ranges of older blocks that are to be read once more'),
        backfillBlocks: count,
        untracedBlocks: count.describe('Blocks whose contracts made by contracts were not seen'),
      })
      .optional(),
    notes: z.array(z.strictObject({ code: z.string(), detail: z.string() })),
  })
  .meta({ id: 'ChainMonitor', description: 'How a chain is watched for new contracts' });

/** GET /v1/chains/{ref}/monitor. */
export const chainMonitorRoute = createRoute({
  method: 'get',
  path: '/v1/chains/{ref}/monitor',
  summary: 'How a chain is watched for new contracts',
  description:
    'As it was some seconds ago, whichever process of the database follows the chain. `status` is `not_configured` where this process has no monitor for it.',
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
  { registry, monitors }: Pick<HttpParts, 'registry' | 'monitors'>,
): void {
  routes.openapi(chainMonitorRoute, (c) => {
    const { record } = findChain(registry(), c.req.valid('param').ref);
    const { chainId, monitored } = record;
    const report = monitors.report(chainId);
    const body =
      report === undefined
        ? { status: 'not_configured' as const, found: 0, creations: [], notes: [] }
        : renderMonitor(report);
    return answerJson(chainMonitorRoute, { chainId, monitored, ...body }, NOT_STORED);
  });
}

type Rendered = Omit<AnswerOf<typeof chainMonitorSchema>, 'chainId' | 'monitored'>;

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
