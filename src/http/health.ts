import { EMBEDDED_LIST } from '../chains/list/embedded-list-date.ts';
import { type HealthFacts, type StoreHealth } from './health-facts.ts';
import { type HealthReason, type HealthReport, type Readiness } from './health-schema.ts';

/** Most chains listed in a reason. */
const MAX_NAMED_CHAINS = 5;

/** Counts are read every half second. A hanging database is noticed before its own timeout. */
const UNANSWERED_SECONDS = 15;

/** Composes the health report. Pure. */
export function composeHealth(facts: HealthFacts): HealthReport {
  const age = (since: Date): number =>
    Math.max(0, Math.floor((facts.now.getTime() - since.getTime()) / 1000));
  const reasons = findReasons(facts);
  const { registry, statistics, database, queue, compilers, probedChains, monitors = [] } = facts;
  return {
    status: reasons.length === 0 ? 'ok' : 'degraded',
    ready: !reasons.some((reason) => reason.blocking),
    reasons,
    uptimeSeconds: age(facts.startedAt),
    ...(registry && {
      registry: {
        source: registry.source,
        sha256: registry.sha256,
        ...(registry.source === 'embedded' && {
          listDate: EMBEDDED_LIST.publishedAt.toISOString(),
        }),
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
      database: {
        reachable: isReachable(facts),
        checkedSecondsAgo: age(database.checkedAt),
      },
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
    ...(monitors.length > 0 && {
      monitor: { chains: monitors.length, stopped: findStopped(monitors) },
    }),
  };
}

/** Reduces the report to what a load balancer needs. Pure. A service with a stale list is ready and reports it. */
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

/** Reasons for database problems. Only damage makes responses wrong or incomplete; the others affect writes. */
const TROUBLES: Record<
  StoreHealth['troubles'][number]['code'],
  Pick<HealthReason, 'detail' | 'blocking'>
> = {
  disk_full: {
    detail:
      'The database has too little space on its disk. Nothing new is accepted, and verifications wait; free some space.',
    blocking: false,
  },
  database_unavailable: {
    detail:
      'The database refuses work, being read-only, out of memory or unable to write its files; the log says more. Verifications wait.',
    blocking: false,
  },
  database_behind: {
    detail:
      'The database does not have events that this process told others are stored: a standby that lacked them was promoted, or older data was put back. The log says which; verify again what is missing, then remove acknowledged.json from the data directory and start again.',
    blocking: false,
  },
  database_damaged: {
    detail:
      'A table or a file of the database is damaged or missing; the log says which. Restore it from a backup.',
    blocking: true,
  },
};

function findReasons(facts: HealthFacts): HealthReason[] {
  const { registry, listSync, database, documents } = facts;
  const reasons: HealthReason[] = [];
  const add = (when: boolean, reason: HealthReason): void => {
    if (when) reasons.push(reason);
  };
  add(facts.stopping, {
    code: 'stopping',
    detail: 'The service is shutting down and finishes requests in progress.',
    blocking: true,
  });
  add(documents?.chains === false, {
    code: 'chains_not_published',
    detail: 'The chain registry has not been read yet.',
    blocking: true,
  });
  add(documents?.statistics === false, {
    code: 'statistics_not_published',
    detail: 'The counts have not been read from the database yet.',
    blocking: true,
  });
  // The served counts may be outdated, and another replica may have newer ones.
  const hungSince = facts.store?.hungSince?.toISOString();
  add(database !== undefined && !isReachable(facts), {
    code: 'database_unreachable',
    detail:
      'The database does not answer; the log says why as soon as it is known. The last known counts are served.',
    blocking: true,
    ...(hungSince !== undefined && { since: hungSince }),
  });
  for (const { code, since } of facts.store?.troubles ?? []) {
    reasons.push({ code, ...TROUBLES[code], since: since.toISOString() });
  }
  const since = listSync?.failure?.since.toISOString();
  add(listSync?.failure !== undefined, {
    code: 'list_stale',
    detail: `The public list could not be renewed since ${since ?? ''}, and the last good one is served${afterColon(listSync?.failure?.message)}.`,
    blocking: false,
    ...(since !== undefined && { since }),
  });
  const { chainIds = [], sha256 = '' } = listSync?.heldBack ?? {};
  add(chainIds.length > 0, {
    code: 'list_records_held_back',
    detail: `The public list gives other names and other endpoints to chains that are in use: ${nameChains(chainIds)}. Their previous records are still used. Look with fullmatch chains sync --dry-run; if the list is right, run fullmatch chains sync --accept ${sha256}.`,
    blocking: false,
  });
  const refusal = facts.configuration?.refusal;
  add(refusal !== undefined, {
    code: 'configuration_refused',
    detail: `The new configuration was rejected, and the previous one is still used${afterColon(refusal?.detail)}. The log and fullmatch reload say more.`,
    blocking: false,
    ...(refusal && { since: refusal.since.toISOString() }),
  });
  const errors = registry?.findings.error ?? 0;
  add(errors > 0, {
    code: 'registry_findings',
    detail: `Findings of level error in the chain registry: ${errors}. fullmatch chains check lists them.`,
    blocking: false,
  });
  const failingSince = findFeedFailure(facts)?.toISOString();
  add(failingSince !== undefined, {
    code: 'feed_stopped',
    detail: `Events have not been processed since ${failingSince ?? ''}: statistics over time, searches by name or the event stream are not updated. stats.json is current. See the log for the reason.`,
    blocking: false,
    ...(failingSince !== undefined && { since: failingSince }),
  });
  add(isStalled(facts), {
    code: 'queue_stalled',
    detail: `Verifications wait for more than ${STALLED_SECONDS} seconds, and no process works on one. Check that a process of this database has verification.workers above 0.`,
    blocking: false,
  });
  const down = facts.probedChains?.down ?? [];
  add(down.length > 0, {
    code: 'chains_down',
    detail: `No endpoint gives answers that can be used, of chain ${nameChains(down)}. /v1/chains/{ref}/health says why.`,
    blocking: false,
  });
  const stopped = findStopped(facts.monitors ?? []).filter(({ status, since: at }) => {
    const seconds = at === undefined ? 0 : (facts.now.getTime() - Date.parse(at)) / 1000;
    return status === 'stalled' || seconds > MONITOR_PATIENCE_SECONDS;
  });
  const stoppedAt = stopped.flatMap(({ since: at }) => at ?? []).sort()[0];
  add(stopped.length > 0, {
    code: 'monitor_stopped',
    detail: `New contracts are not found on chain ${nameChains(stopped.map(({ chainId }) => chainId))}: ${stopped[0]?.code ?? ''}. /v1/chains/{ref}/monitor says more.`,
    blocking: false,
    ...(stoppedAt !== undefined && { since: stoppedAt }),
  });
  return reasons;
}

/** Shorter monitor faults are not reported. */
const MONITOR_PATIENCE_SECONDS = 60;

/** Lists the chains whose monitor makes no progress, and why. */
function findStopped(
  monitors: NonNullable<HealthFacts['monitors']>,
): NonNullable<HealthReport['monitor']>['stopped'] {
  return monitors.flatMap(({ chainId, status, cursor }) => {
    if (status !== 'failing' && status !== 'stalled') return [];
    const since = cursor?.fault?.since ?? cursor?.currentAt;
    return [
      {
        ...{ chainId, status, code: cursor?.fault?.code ?? 'no_progress' },
        ...(since && { since: since.toISOString() }),
        ...(cursor && { lagBlocks: cursor.lag }),
      },
    ];
  });
}

function nameChains(chainIds: readonly number[]): string {
  const more = chainIds.length > MAX_NAMED_CHAINS ? ', …' : '';
  return chainIds.slice(0, MAX_NAMED_CHAINS).join(', ') + more;
}

function isReachable({ now, database, store }: HealthFacts): boolean {
  if (database === undefined || store?.hungSince !== undefined) return false;
  const { reachable, checkedAt } = database;
  return reachable && now.getTime() - checkedAt.getTime() <= UNANSWERED_SECONDS * 1000;
}

/**
 * Returns since when the event feed has failed although the database responds. A single failed run is
 * ignored, since the next one catches up.
 */
function findFeedFailure(facts: HealthFacts): Date | undefined {
  const { feedFailingSince: since, now } = facts;
  if (since === undefined || !isReachable(facts)) return undefined;
  return now.getTime() - since.getTime() > UNANSWERED_SECONDS * 1000 ? since : undefined;
}

/** A worker takes a waiting job within a second or two, unless all workers are busy. */
const STALLED_SECONDS = 60;

function isStalled({ now, queue }: HealthFacts): boolean {
  if (queue?.oldestQueuedAt === undefined || queue.running > 0) return false;
  return now.getTime() - queue.oldestQueuedAt.getTime() > STALLED_SECONDS * 1000;
}

function afterColon(text: string | undefined): string {
  return text === undefined ? '' : `: ${text.replace(/\.$/, '')}`;
}
