import { type ListSyncTimes, startListSync } from '../chains/list/start-list-sync.ts';
import { createSyncRules } from '../chains/list/sync-rules.ts';
import { openIcons } from '../chains/registry/chain-icons.ts';
import { type LoadedConfig } from '../config/config.ts';
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
  const { registry, verification: options } = loaded.config;
  const { sync } = registry;
  const startedAt = now();
  const store = await core.store();
  const { database } = store;
  const publication = await core.publication();
  const log = await core.log();
  const icons = { current: await openIcons(registry.icons) };
  const { fetch, health: chainHealth } = await core.chains();
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
    }),
  };
}
