import { type ListSyncTimes, startListSync } from '../chains/list/start-list-sync.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { openIcons } from '../chains/registry/chain-icons.ts';
import { type LoadedConfig } from '../config/config.ts';
import { watchMonitors } from '../monitor/monitor-report.ts';
import { followWatchedChains } from '../monitor/watched-chains.ts';
import { readContractChainIds } from '../repository/repository.ts';
import { startRecheckWalk } from '../verification/recheck/recheck-walk.ts';
import { type Core } from './open-core.ts';
import { startReload } from './start-reload.ts';

/** What may be replaced of a running core. */
export interface RunOverrides {
  /** In place of the times that the configuration gives. */
  readonly listSyncTimes?: Partial<ListSyncTimes>;
  /** Reads the configuration again for a reload; without it a reload finds what the core was opened with. */
  readonly loadAgain?: () => LoadedConfig;
}

/** The parts of a running core, and what they tell of their health. */
export type RunningCore = Awaited<ReturnType<typeof runCore>>;

/**
 * Opens every part of the core of a service, and starts its background work: the registry follows the public list
 * and reloads, endpoints are probed, jobs are worked on, and verified code is read again.
 */
export async function runCore(core: Core, overrides: RunOverrides = {}) {
  const { closers, loaded, now } = core;
  const { registry, verification: options, monitor } = loaded.config;
  const { sync } = registry;
  const startedAt = now();
  const store = await core.store();
  const { database } = store;
  const publication = await core.publication();
  const log = await core.log();
  const icons = { current: await openIcons(registry.icons) };
  const { fetch, rpc, health: chainHealth } = await core.chains();
  const listSync = closers.addFirst(
    await startListSync(
      {
        ...createSyncRules(
          () => publication.inputs,
          () => readContractChainIds(database),
          sync.maxShrinkPercent,
        ),
        ...{ database, fetch, fallback: await core.list(), served: publication.inputs.list },
        publish: (list) => publication.replace({ list }),
      },
      sync.urls,
      { everyMs: sync.everySeconds * 1000, ...overrides.listSyncTimes },
      log,
    ),
  );
  const parts = await core.verificationParts();
  const verification = await core.verification();
  const configuredChains = (): number[] => [...publication.inputs.configured.keys()];
  const { recheckPerHour: perHour } = options;
  closers.addFirst(startRecheckWalk(database, parts, configuredChains, { perHour }, log));
  // Loaded behind the rest, so that a low limit of descriptors bears the start.
  const { openMonitor } = await import('../monitor/monitor.ts');
  const monitoring = monitor.enabled
    ? closers.addFirst(
        openMonitor(
          {
            ...{ database, fetch, rpc, verification: parts },
            takeRequest: (host) => chainHealth.takeRequest(host),
            findChain: (chainId) =>
              publication.registry.chains.find(({ record }) => record.chainId === chainId),
            configured: () => publication.inputs.configured,
            onCodesIndexed: (listener) => verification.onCodesIndexed(listener),
            submit: (...submission) => verification.submit(...submission),
          },
          monitor,
          log,
        ),
      )
    : undefined;
  const configured = () => publication.inputs.configured;
  const monitors = closers.addFirst(watchMonitors(database, configured, monitor, log));
  const watched = {
    database,
    inputs: () => publication.inputs,
    publish: (watched: ReadonlySet<number>) => publication.replace({ watched }),
  };
  closers.addFirst(followWatchedChains(watched, monitor, log));
  const { reloader } = closers.add(
    await startReload(
      { started: loaded, database, publication, fetch, icons, log },
      overrides.loadAgain ?? (() => loaded),
      now,
    ),
  );
  const { compilers } = parts;
  return {
    ...{ log, database, publication, chainHealth, compilers, verification, reloader, icons },
    monitors,
    ...(monitoring && { monitorRequests: monitoring.requests }),
    facts: () => ({
      now: now(),
      startedAt,
      ...publication.facts,
      store: store.condition(),
      configuration: reloader.state,
      ...(listSync.state && { listSync: listSync.state }),
      ...(verification.queue && { queue: verification.queue }),
      compilers: compilers.describe(),
      probedChains: chainHealth.summary(),
      monitors: monitors.reports(),
    }),
  };
}
