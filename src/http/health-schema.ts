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
  detail: z.string().describe('The same as text'),
  blocking: z.boolean().describe('Whether requests should go elsewhere until it is resolved'),
  since: z.iso.datetime().optional().describe('When it began, if known'),
});

/** The body of GET /health. Ages are whole seconds; unknown values are absent. */
export const healthReportSchema = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded'])
      .describe('degraded: see the reasons; the service still responds'),
    ready: z.boolean(),
    reasons: z.array(healthReasonSchema),
    uptimeSeconds: seconds,
    registry: z
      .strictObject({
        source: z.string().describe('embedded, the list file, or the URL the list was synced from'),
        sha256: z.string().describe('Hash of the chain list'),
        listDate: z.iso
          .datetime()
          .optional()
          .describe('When the embedded list was published; absent if another list is used'),
        chains: count,
        supported: count,
        monitored: count,
        findings: z.strictObject({ error: count, warning: count, info: count }),
        stale: z.boolean().describe('No newer list can be fetched; the last good one is used'),
        ageSeconds: seconds,
        confirmedSecondsAgo: seconds
          .optional()
          .describe('Since a source last provided or confirmed the list; absent without sync'),
      })
      .optional(),
    statistics: z
      .strictObject({
        chains: count,
        full: count.describe('As in stats.json, which counts verified and imported contracts'),
        partial: count.describe('As in stats.json'),
        lastModified: z.iso.datetime(),
        ageSeconds: seconds.describe('Since the counts last changed'),
        confirmedSecondsAgo: seconds.describe('Since they were last checked against the database'),
      })
      .optional(),
    configuration: z
      .strictObject({
        ageSeconds: seconds.describe('Since the current configuration was read'),
        refused: z.boolean().describe('A newer one is invalid'),
      })
      .optional(),
    database: z.strictObject({ reachable: z.boolean(), checkedSecondsAgo: seconds }).optional(),
    queue: z
      .strictObject({
        queued: count,
        running: count,
        oldestQueuedSeconds: seconds
          .optional()
          .describe('Age of the oldest waiting job; absent if none waits'),
      })
      .optional()
      .describe('Unfinished verification jobs of all processes of the database'),
    compilers: z
      .strictObject({
        running: count.describe('Running compilations'),
        waiting: count.describe('Waiting compilations'),
        warm: count.describe('Idle loaded compilers'),
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
          .describe('Chains whose monitor has stopped'),
      })
      .optional()
      .describe('Monitoring for new contracts, by any process of the database'),
  })
  .meta({ id: 'Health', description: 'The health of the service' });

/** The body of GET /readyz: 200 if ready, else 503 as a problem with the same members. */
export const readinessSchema = z
  .strictObject({
    ready: z.boolean(),
    stale: z.boolean().describe('The chain list in use is not the newest'),
    reasons: z.array(healthReasonSchema),
    ages: z.strictObject({
      listSeconds: seconds.optional(),
      statisticsConfirmedSeconds: seconds.optional(),
    }),
  })
  .meta({ id: 'Readiness', description: 'Whether the service is ready for requests' });

/** A condition that needs attention, and whether it makes the service not ready. */
export type HealthReason = z.infer<typeof healthReasonSchema>;
/** The body of GET /health. */
export type HealthReport = z.infer<typeof healthReportSchema>;
/** The body of GET /readyz. */
export type Readiness = z.infer<typeof readinessSchema>;
