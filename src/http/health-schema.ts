import { z } from '@hono/zod-openapi';

const count = z.int().min(0);
const seconds = z.int().min(0);

const healthReasonSchema = z.strictObject({
  code: z
    .enum([
      'stopping',
      'chains_not_published',
      'statistics_not_published',
      'database_unreachable',
      'database_damaged',
      'database_unavailable',
      'database_behind',
      'disk_full',
      'list_stale',
      'list_records_held_back',
      'configuration_refused',
      'registry_findings',
      'feed_stopped',
      'queue_stalled',
      'chains_down',
      'monitor_stopped',
    ])
    .describe('Stable; programs branch on it'),
  detail: z.string().describe('The same for people'),
  blocking: z.boolean().describe('Whether requests should go elsewhere until it is gone'),
  since: z.iso.datetime().optional().describe('When it began, where that is known'),
});

/** The body of GET /health. Ages are whole seconds; what is not known yet is absent. */
export const healthReportSchema = z
  .strictObject({
    status: z.enum(['ok', 'degraded']).describe('degraded: there are reasons; it still answers'),
    ready: z.boolean(),
    reasons: z.array(healthReasonSchema),
    uptimeSeconds: seconds,
    registry: z
      .strictObject({
        source: z.string().describe('embedded, the list file, or where the list was synced from'),
        sha256: z.string().describe('Hash of the chain list'),
        listDate: z.iso
          .datetime()
          .optional()
          .describe('When the embedded list was published; absent where another one is served'),
        chains: count,
        supported: count,
        monitored: count,
        findings: z.strictObject({ error: count, warning: count, info: count }),
        stale: z.boolean().describe('No newer list can be fetched; the last good one is served'),
        ageSeconds: seconds,
        confirmedSecondsAgo: seconds
          .optional()
          .describe('Since a source last gave or confirmed the list; absent without sync'),
      })
      .optional(),
    statistics: z
      .strictObject({
        chains: count,
        full: count,
        partial: count,
        lastModified: z.iso.datetime(),
        ageSeconds: seconds.describe('Since the counts last changed'),
        confirmedSecondsAgo: seconds.describe('Since they were last compared with the database'),
      })
      .optional(),
    configuration: z
      .strictObject({
        ageSeconds: seconds.describe('Since the configuration in force was read'),
        refused: z.boolean().describe('A newer one is refused'),
      })
      .optional(),
    database: z.strictObject({ reachable: z.boolean(), checkedSecondsAgo: seconds }).optional(),
    queue: z
      .strictObject({
        queued: count,
        running: count,
        oldestQueuedSeconds: seconds
          .optional()
          .describe('Since the submission of the job that waits longest; absent when none waits'),
      })
      .optional()
      .describe('Verification jobs in flight, of all processes of the database'),
    compilers: z
      .strictObject({
        running: count.describe('Compilations at work'),
        waiting: count.describe('Compilations that wait for a place'),
        warm: count.describe('Loaded compilers that wait for work'),
        warmBytes: count.describe('Their resident memory when last measured'),
      })
      .optional()
      .describe('The compilers of this process'),
    probedChains: z
      .strictObject({ up: count, degraded: count, down: count, unknown: count })
      .optional()
      .describe('Configured chains by the state of their endpoints, as this process sees them'),
    monitor: z
      .strictObject({
        chains: count.describe('Chains with a monitor'),
        stopped: z
          .array(
            z.strictObject({
              chainId: z.int().min(1),
              status: z.enum(['failing', 'stalled']),
              code: z.string().describe('Why: a code'),
              since: z.iso.datetime().optional(),
              lagBlocks: count.optional(),
            }),
          )
          .describe('Chains whose monitor does not go on'),
      })
      .optional()
      .describe('Watching chains for new contracts, by any process of the database'),
  })
  .meta({ id: 'Health', description: 'What the service knows of its own state' });

/** The body of GET /readyz: 200 when ready, else 503 as a problem with the same members. */
export const readinessSchema = z
  .strictObject({
    ready: z.boolean(),
    stale: z.boolean().describe('The chain list that is served is not the newest'),
    reasons: z.array(healthReasonSchema),
    ages: z.strictObject({
      listSeconds: seconds.optional(),
      statisticsConfirmedSeconds: seconds.optional(),
    }),
  })
  .meta({ id: 'Readiness', description: 'Whether requests should come here' });

/** Something that needs a look, and whether it keeps the service from being ready. */
export type HealthReason = z.infer<typeof healthReasonSchema>;
/** The body of GET /health. */
export type HealthReport = z.infer<typeof healthReportSchema>;
/** The body of GET /readyz. */
export type Readiness = z.infer<typeof readinessSchema>;
