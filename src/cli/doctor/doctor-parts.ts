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

/** What the checks share. Each is made when a check first asks, and fails for all alike. */
export interface DoctorParts {
  readonly config: Config;
  readonly core: Core;
  readonly signal: AbortSignal;
  /** The database that answers; undefined where the embedded server does not run. */
  readonly store: () => Promise<InspectedStore | undefined>;
  /** The registry, refused as `start` refuses it. */
  readonly registry: () => Promise<ChainRegistry>;
  /** How the endpoints of the configured chains answer. */
  readonly health: () => Promise<readonly ChainHealthReport[]>;
  /** Asks the ports and the public URLs of the service itself. */
  readonly fetch: GuardedFetch;
}

/** Somebody waits for the answer. */
const PROBE_DEADLINE_MS = 5_000;
const OWN_BYTES = 1_000_000;

/** The parts of a configuration; what is opened of them closes with the core. */
export function openDoctorParts(core: Core, signal: AbortSignal): DoctorParts {
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

/** The service's own addresses may be private ones. */
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
