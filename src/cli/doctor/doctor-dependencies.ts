import { type Core } from '../../core/open-core.ts';
import { findWatchedChains, probeChains } from '../../chains/health/chain-health.ts';
import { type ChainHealthReport } from '../../chains/health/health-report.ts';
import { assertNoSecrets } from '../../chains/registry/render-chains.ts';
import { type ChainRegistry } from '../../chains/registry/registry.ts';
import { createRpcClient } from '../../chains/rpc/rpc-client.ts';
import { type Config } from '../../config/config.ts';
import { hostPortOf } from '../../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { readPackageVersion } from '../../lib/package-version.ts';
import { urlOfPort } from '../../service/inspect-ports.ts';
import { portsOf } from '../../service/ports.ts';
import { inspectStore, type InspectedStore } from '../../store/inspect-store.ts';

/** Shared dependencies of the checks. Each is created on first use and fails for all checks alike. */
export interface DoctorDependencies {
  readonly config: Config;
  readonly core: Core;
  readonly signal: AbortSignal;
  /** The database, if it responds; undefined if the embedded server is not running. */
  readonly store: () => Promise<InspectedStore | undefined>;
  /** The registry; fails, as `start` does, if it would publish a secret. */
  readonly registry: () => Promise<ChainRegistry>;
  /** Health of the endpoints of the configured chains. */
  readonly health: () => Promise<readonly ChainHealthReport[]>;
  /** Fetches from the service's own ports and public URLs. */
  readonly fetch: GuardedFetch;
}

/** Short, since a person is waiting. */
const PROBE_DEADLINE_MS = 5_000;
const OWN_BYTES = 1_000_000;

/** Opens the dependencies for a configuration; the core closes whatever they open. */
export function openDoctorDependencies(core: Core, signal: AbortSignal): DoctorDependencies {
  const { config } = core.loaded;
  const registry = once(async () => {
    const inForce = await core.registry();
    assertNoSecrets(inForce.registry, inForce.inputs.secrets);
    return inForce.registry;
  });
  const fetch = core.closers.add(openOwnFetch(config));
  return {
    ...{ config, core, signal, registry, fetch },
    store: once(async () => {
      const opened = await inspectStore(
        { ...config.database, dataDir: config.dataDir },
        'fullmatch doctor',
      );
      return opened === undefined ? undefined : core.closers.add(opened);
    }),
    health: once(async () => {
      const found = await registry();
      const { inputs } = await core.registry();
      const chosen = findWatchedChains({ registry: () => found, inputs: () => inputs });
      const { fetch: outside } = await core.chains();
      return probeChains(createRpcClient({ fetch: outside }), chosen, {
        deadlineMs: PROBE_DEADLINE_MS,
        signal,
      });
    }),
  };
}

/** The service's own addresses may be private. */
function openOwnFetch(config: Config): GuardedFetch {
  const publicUrls = [config.api.publicUrl, config.repository.publicUrl].filter(
    (url) => url !== undefined,
  );
  const ports = portsOf(config).filter(({ port }) => port !== 0);
  return createGuardedFetch({
    allowPrivate: [...ports.map(urlOfPort), ...publicUrls].map((url) => hostPortOf(new URL(url))),
    maxBytes: OWN_BYTES,
    deadlineMs: PROBE_DEADLINE_MS,
    maxRedirects: 0,
    userAgent: `fullmatch/${readPackageVersion()}`,
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
