import { type ListSyncTimes, startListSync } from '../chains/list/start-list-sync.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { openIcons } from '../chains/registry/chain-icons.ts';
import { type LoadedConfig } from '../config/config.ts';
import { type Logger } from '../log.ts';
import { openMonitor } from '../monitor/monitor.ts';
import { trackMonitorReports } from '../monitor/monitor-report.ts';
import { followMonitoredChains } from '../monitor/monitored-chains.ts';
import { createContractReader, readContractChainIds } from '../repository/repository.ts';
import { type ForwardTimes, startForwarding } from '../verification/forwarding/forward-walk.ts';
import { startRecheckWalk } from '../verification/recheck/recheck-walk.ts';
import { type Store } from '../store/open-store.ts';
import { type Core } from './open-core.ts';
import { startReload } from './start-reload.ts';
import { watchAcknowledged } from './watch-acknowledged.ts';

/** Replaceable parts of a running core. */
export interface RunOverrides {
  /** Overrides the configured intervals. */
  readonly listSyncTimes?: Partial<ListSyncTimes>;
  readonly forwardTimes?: ForwardTimes;
  /** Reads the configuration again for a reload; without it a reload returns the configuration at the start. */
  readonly loadAgain?: () => LoadedConfig;
}

/** The parts of a running core, and their health. */
export type RunningCore = Awaited<ReturnType<typeof runCore>>;

/**
 * Opens every part of a service's core and starts its background work: the registry follows the public list
 * and reloads, endpoints are probed, jobs are processed, and verified bytecode is reread.
 */
export async function runCore(core: Core, overrides: RunOverrides = {}) {
  const { closers, loaded, now } = core;
  const { registry, verification: options, monitor } = loaded.config;
  const startedAt = now();
  preload();
  const store = await core.store();
  const { database } = store;
  const publication = await core.publication();
  const log = await core.log();
  const condition = await watchStore(core, store, log);
  const icons = { current: await openIcons(registry.icons) };
  const { fetch, rpc, health: chainHealth } = await core.chains();
  const listSync = closers.addFirst(
    await startListSync(
      {
        ...createSyncRules(
          () => publication.inputs,
          () => readContractChainIds(database),
          registry.sync.maxShrinkPercent,
        ),
        ...{ database, fetch, fallback: await core.list(), served: publication.inputs.list },
        publish: (list) => publication.replace({ list }),
      },
      registry.sync.urls,
      { everyMs: registry.sync.everySeconds * 1000, ...overrides.listSyncTimes },
      log,
    ),
  );
  const parts = await core.verificationParts();
  const verification = await core.verification();
  const configuredChains = (): number[] => [...publication.inputs.configured.keys()];
  const unlisted = await core.unlisted();
  const { recheckRoundSeconds: roundSeconds } = options;
  closers.addFirst(startRecheckWalk(database, parts, configuredChains, { roundSeconds }, log));
  if (parts.explorerVerifier !== undefined) {
    const contracts = createContractReader(database);
    const times = overrides.forwardTimes;
    closers.addFirst(startForwarding(database, contracts, parts.explorerVerifier, log, times));
  }
  const monitoring = monitor.enabled
    ? closers.addFirst(
        openMonitor(
          {
            ...{ database, fetch, rpc, verification: parts },
            takeRequest: (host) => chainHealth.takeRequest(host),
            findChain: (chainId) =>
              publication.registry.chains.find(({ record }) => record.chainId === chainId),
            configured: () => publication.inputs.configured,
            submit: (...submission) => verification.submit(...submission),
            waitForJobs: verification.waitForNews,
          },
          monitor,
          log,
        ),
      )
    : undefined;
  const configured = () => publication.inputs.configured;
  const monitors = closers.addFirst(trackMonitorReports(database, configured, monitor, log));
  const watched = {
    database,
    inputs: () => publication.inputs,
    publish: (watched: ReadonlySet<number>) => publication.replace({ watched }),
  };
  closers.addFirst(followMonitoredChains(watched, monitor, log));
  const { reloader } = closers.add(
    await startReload(
      { started: loaded, database, publication, fetch, icons, log },
      overrides.loadAgain ?? (() => loaded),
      now,
    ),
  );
  const compilers = await core.compilers();
  return {
    ...{ log, database, publication, chainHealth, compilers, verification, reloader, icons },
    ...{ monitors, unlisted },
    ...(monitoring && { monitorRequests: monitoring.requests }),
    facts: () => ({
      now: now(),
      startedAt,
      ...publication.facts,
      store: condition(),
      configuration: reloader.state,
      ...(listSync.state && { listSync: listSync.state }),
      ...(verification.queue && { queue: verification.queue }),
      compilers: compilers.describe(),
      probedChains: chainHealth.summary(),
      monitors: monitors.reports(),
    }),
  };
}

/** Loads modules while PostgreSQL responds. A failure is thrown where they are used. */
function preload(): void {
  const modules = [import('./chain-access.ts'), import('./open-verification.ts')];
  Promise.all(modules).catch(() => undefined);
}

/** Problems of the database: from its statements, and what it lost. */
async function watchStore({ closers, loaded }: Core, store: Store, log: Logger) {
  const acknowledged = closers.addFirst(
    await watchAcknowledged(store.database, loaded.config.dataDir, log),
  );
  return () => {
    const found = store.condition();
    const { lost } = acknowledged;
    if (lost === undefined) return found;
    const behind = { code: 'database_behind' as const, since: new Date(lost.since) };
    return { ...found, troubles: [...found.troubles, behind] };
  };
}
