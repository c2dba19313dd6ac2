import { z } from '@hono/zod-openapi';

import { type HealthSummary } from '../chains/health/health-report.ts';

/** What the registry says of itself. */
export interface RegistryHealth {
  /** `embedded` or the name of the operator's list. */
  readonly source: string;
  readonly sha256: string;
  readonly chains: number;
  readonly supported: number;
  readonly monitored: number;
  readonly findings: { readonly error: number; readonly warning: number; readonly info: number };
  readonly loadedAt: Date;
}

/** What the sync with the public list says of itself. */
export interface ListSyncHealth {
  /** When a source last gave or confirmed the list that is served. */
  readonly confirmedAt?: Date;
  /** Since when and why none does: the list that is served is an older one. */
  readonly failure?: { readonly since: Date; readonly message: string };
}

/** How the configuration in force came to be. */
export interface ConfigurationHealth {
  readonly loadedAt: Date;
  /** Since when a newer one is refused, and why. */
  readonly refusal?: { readonly since: Date; readonly detail: string };
}

/** What the statistics say of themselves. */
export interface StatisticsHealth {
  readonly chains: number;
  readonly full: number;
  readonly partial: number;
  /** When the counts last changed. */
  readonly lastModified: Date;
  /** When they were last compared with the database. */
  readonly confirmedAt: Date;
}

/** Whether the database answers. */
export interface DatabaseHealth {
  readonly reachable: boolean;
  readonly checkedAt: Date;
  /** Why it does not; it goes to anyone who asks, so it holds no connection string. */
  readonly reason?: string;
}

/** The verification jobs in flight, of all processes of the database. */
export interface QueueHealth {
  readonly queued: number;
  readonly running: number;
  /** When the job that waits longest was submitted; absent when none waits. */
  readonly oldestQueuedAt?: Date;
}

/** The compilers of this process. */
export interface CompilersHealth {
  /** Compilations at work. */
  readonly running: number;
  /** Compilations that wait for a place. */
  readonly waiting: number;
  /** Loaded compilers that wait for work. */
  readonly idle: number;
  /** What the waiting ones held when they were last looked at. */
  readonly idleBytes: number;
}

/** Facts from which the answers about health are composed. What is not known yet is absent. */
export interface HealthFacts {
  readonly now: Date;
  readonly startedAt: Date;
  readonly registry?: RegistryHealth;
  readonly listSync?: ListSyncHealth;
  readonly configuration?: ConfigurationHealth;
  readonly statistics?: StatisticsHealth;
  readonly database?: DatabaseHealth;
  readonly queue?: QueueHealth;
  readonly compilers?: CompilersHealth;
  /** As this process sees them. */
  readonly probedChains?: HealthSummary;
  /** Which of the published documents have a snapshot. */
  readonly documents: { readonly chains: boolean; readonly statistics: boolean };
  /** Whether the service has been told to end. */
  readonly stopping: boolean;
}

const count = z.int().min(0);
const seconds = z.int().min(0);

const healthReasonSchema = z.strictObject({
  code: z
    .enum([
      'stopping',
      'chains_not_published',
      'statistics_not_published',
      'database_unreachable',
      'list_stale',
      'configuration_refused',
      'registry_findings',
      'queue_stalled',
      'chains_down',
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
        chains: count,
        supported: count,
        monitored: count,
        findings: z.strictObject({ error: count, warning: count, info: count }),
        stale: z.boolean().describe('No newer list is to be had; the last good one is served'),
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
        warmBytes: count.describe('Their resident memory when each was last looked at'),
      })
      .optional()
      .describe('The compilers of this process'),
    probedChains: z
      .strictObject({ up: count, degraded: count, down: count, unknown: count })
      .optional()
      .describe('Configured chains by the state of their endpoints, as this process sees them'),
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
type HealthReason = z.infer<typeof healthReasonSchema>;
/** The body of GET /health. */
export type HealthReport = z.infer<typeof healthReportSchema>;
/** The body of GET /readyz. */
type Readiness = z.infer<typeof readinessSchema>;

/** A reason names no more chains than this. */
const MAX_NAMED_CHAINS = 5;

/** Composes the health report from what is known. Pure. */
export function composeHealth(facts: HealthFacts): HealthReport {
  const age = (since: Date): number =>
    Math.max(0, Math.floor((facts.now.getTime() - since.getTime()) / 1000));
  const reasons = findReasons(facts);
  const { registry, statistics, database, queue, compilers, probedChains } = facts;
  return {
    status: reasons.length === 0 ? 'ok' : 'degraded',
    ready: !reasons.some((reason) => reason.blocking),
    reasons,
    uptimeSeconds: age(facts.startedAt),
    ...(registry && {
      registry: {
        source: registry.source,
        sha256: registry.sha256,
        chains: registry.chains,
        supported: registry.supported,
        monitored: registry.monitored,
        findings: registry.findings,
        stale: facts.listSync?.failure !== undefined,
        ageSeconds: age(registry.loadedAt),
        ...(facts.listSync?.confirmedAt && {
          confirmedSecondsAgo: age(facts.listSync.confirmedAt),
        }),
      },
    }),
    ...(statistics && {
      statistics: {
        chains: statistics.chains,
        full: statistics.full,
        partial: statistics.partial,
        lastModified: statistics.lastModified.toISOString(),
        ageSeconds: age(statistics.lastModified),
        confirmedSecondsAgo: age(statistics.confirmedAt),
      },
    }),
    ...(facts.configuration && {
      configuration: {
        ageSeconds: age(facts.configuration.loadedAt),
        refused: facts.configuration.refusal !== undefined,
      },
    }),
    ...(database && {
      database: { reachable: database.reachable, checkedSecondsAgo: age(database.checkedAt) },
    }),
    ...(queue && {
      queue: {
        queued: queue.queued,
        running: queue.running,
        ...(queue.oldestQueuedAt && { oldestQueuedSeconds: age(queue.oldestQueuedAt) }),
      },
    }),
    ...(compilers && {
      compilers: {
        running: compilers.running,
        waiting: compilers.waiting,
        warm: compilers.idle,
        warmBytes: compilers.idleBytes,
      },
    }),
    ...(probedChains && { probedChains: { ...probedChains, down: probedChains.down.length } }),
  };
}

/** What a load balancer needs of the report. Pure. A stale list is ready and says so. */
export function readinessOf(report: HealthReport): Readiness {
  return {
    ready: report.ready,
    stale: report.registry?.stale ?? false,
    reasons: report.reasons,
    ages: {
      ...(report.registry && { listSeconds: report.registry.ageSeconds }),
      ...(report.statistics && {
        statisticsConfirmedSeconds: report.statistics.confirmedSecondsAgo,
      }),
    },
  };
}

function findReasons(facts: HealthFacts): HealthReason[] {
  const { registry, listSync, database, documents } = facts;
  const reasons: HealthReason[] = [];
  const add = (when: boolean, reason: HealthReason): void => {
    if (when) reasons.push(reason);
  };
  add(facts.stopping, {
    code: 'stopping',
    detail: 'The service was told to end and finishes what it has begun.',
    blocking: true,
  });
  add(!documents.chains, {
    code: 'chains_not_published',
    detail: 'The chain registry has not been read yet.',
    blocking: true,
  });
  add(!documents.statistics, {
    code: 'statistics_not_published',
    detail: 'The counts have not been read from the database yet.',
    blocking: true,
  });
  // The counts that are served may have been overtaken, and another replica may know better.
  add(database?.reachable === false, {
    code: 'database_unreachable',
    detail: `The database does not answer${afterColon(database?.reason)}. The last known counts are served.`,
    blocking: true,
  });
  const since = listSync?.failure?.since.toISOString();
  add(listSync?.failure !== undefined, {
    code: 'list_stale',
    detail: `The public list could not be renewed since ${since ?? ''}, and the last good one is served${afterColon(listSync?.failure?.message)}.`,
    blocking: false,
    ...(since !== undefined && { since }),
  });
  const refusal = facts.configuration?.refusal;
  add(refusal !== undefined, {
    code: 'configuration_refused',
    detail: `The configuration is refused, and the one before stays in force${afterColon(refusal?.detail)}. The log and fullmatch reload say more.`,
    blocking: false,
    ...(refusal && { since: refusal.since.toISOString() }),
  });
  const errors = registry?.findings.error ?? 0;
  add(errors > 0, {
    code: 'registry_findings',
    detail: `Findings of level error in the chain registry: ${errors}. fullmatch chains check lists them.`,
    blocking: false,
  });
  add(isStalled(facts), {
    code: 'queue_stalled',
    detail: `Verifications wait for more than ${STALLED_SECONDS} seconds, and no process works on one. Look whether a process of this database has verification.workers above 0.`,
    blocking: false,
  });
  const down = facts.probedChains?.down ?? [];
  add(down.length > 0, {
    code: 'chains_down',
    detail: `No endpoint gives answers that can be used, of chain ${down.slice(0, MAX_NAMED_CHAINS).join(', ')}${down.length > MAX_NAMED_CHAINS ? ', …' : ''}. /v1/chains/{ref}/health says why.`,
    blocking: false,
  });
  return reasons;
}

/** A worker takes what waits within a second or two, unless all are busy. */
const STALLED_SECONDS = 60;

function isStalled({ now, queue }: HealthFacts): boolean {
  if (queue?.oldestQueuedAt === undefined || queue.running > 0) return false;
  return now.getTime() - queue.oldestQueuedAt.getTime() > STALLED_SECONDS * 1000;
}

function afterColon(text: string | undefined): string {
  return text === undefined ? '' : `: ${text.replace(/\.$/, '')}`;
}
