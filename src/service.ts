import { openIcons } from './chains/chain-icons.ts';
import { type ChainList } from './chains/chain-list.ts';
import { findExplorerHosts } from './chains/creation/explorer-hits.ts';
import { findCreationTransaction } from './chains/creation/find-creation-transaction.ts';
import { type ChainHealth, watchEndpoints } from './chains/health/chain-health.ts';
import { readChainList } from './chains/load-registry.ts';
import { recordPublication } from './chains/publication-time.ts';
import { type ChainRegistry } from './chains/registry.ts';
import { findOperatorHosts } from './chains/rpc/asked-chain.ts';
import { readDeployedCode } from './chains/rpc/deployed-code.ts';
import { type RpcClient } from './chains/rpc/rpc-client.ts';
import { isUrlSource } from './chains/sync/list-source.ts';
import {
  readServedList,
  startListSync,
  type ListSync,
  type ListSyncParts,
  type ListSyncTimes,
} from './chains/sync/start-list-sync.ts';
import { readCurrentSnapshot } from './chains/sync/snapshots.ts';
import { createSyncRules } from './chains/sync/sync-rules.ts';
import { type CompilerSources } from './compilers/compiler-finder.ts';
import { createCompilers, type Compilers } from './compilers/compilers.ts';
import { type Config, type LoadedConfig } from './config/config.ts';
import { FullmatchError } from './errors.ts';
import { createApiApp } from './http/api/api-app.ts';
import { type Activity, openActivity } from './http/api/statistics/activity.ts';
import { readWebBundle } from './http/api/pages/web-bundle.ts';
import { Documents } from './http/documents.ts';
import { composeHealth } from './http/health.ts';
import { type HostApp } from './http/host-app.ts';
import { type HttpDependencies } from './http/host-dependencies.ts';
import { listen, type Listener, type ListenOptions } from './http/listener.ts';
import { createMetrics, createMetricsApp } from './http/metrics.ts';
import { Publisher } from './http/publisher.ts';
import { createRepositoryApp } from './http/repository/repository-app.ts';
import { hostPortOf } from './lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from './lib/guarded-fetch.ts';
import { readPackageVersion } from './lib/package-version.ts';
import { createLogger, type Logger } from './log.ts';
import { type ReloadOutcome } from './reload/reloader.ts';
import { startReload, type Reloading } from './reload/start-reload.ts';
import { createContractLists } from './repository/contract-lists.ts';
import { createContractReader } from './repository/contract-reader.ts';
import { createStatisticsReader } from './repository/statistics-reader.ts';
import { readStatistics } from './repository/statistics.ts';
import { watchMatches } from './repository/watch-matches.ts';
import { type Database } from './store/database.ts';
import { openStore } from './store/open-store.ts';
import { startVerification } from './verification/verification.ts';
import { type VerificationParts } from './verification/verify-contract.ts';

/** How long a change of another process may stay unseen when its notification is lost. */
const POLL_MS = 500;
/** Metrics are for the operator's own machine, whatever the hosts bind. */
const LOOPBACK = '127.0.0.1';
const OUTBOUND_MAX_BYTES = 1_000_000;
const OUTBOUND_DEADLINE_MS = 30_000;
const OUTBOUND_MAX_REDIRECTS = 3;

/** Where a started service answers, without a closing slash. A host that is switched off is absent. */
export interface ServiceUrls {
  readonly apiUrl?: string;
  readonly repositoryUrl?: string;
  readonly metricsUrl?: string;
}

/** The whole service in one process. */
export interface Service {
  /** Opens the store, publishes both documents and listens. What it opened before a failure is closed again. */
  start(): Promise<ServiceUrls>;
  /**
   * Reads the configuration again and puts into force what can change: chains, `registry.*` but its sync, `log.level`.
   * @throws FullmatchError `not_ready` before the start, or that of a start that failed
   */
  reload(): Promise<ReloadOutcome>;
  /** Finishes the requests that have begun, then closes everything; resolves when nothing is left. */
  close(): Promise<void>;
}

/** What may be replaced of the service. */
export interface ServiceOverrides {
  readonly log?: Logger;
  /** Reads the configuration again for a reload; without it a reload finds what the service started with. */
  readonly loadAgain?: () => LoadedConfig;
  /** In place of the times that the configuration gives. */
  readonly listSyncTimes?: Partial<ListSyncTimes>;
}

/** What is open, in the order of opening; it is closed in the reverse order. */
class Opened {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #first: (() => Promise<void>)[] = [];
  readonly #listeners: Listener[] = [];

  add<T extends { close(): Promise<void> }>(part: T): T {
    this.#closers.push(() => part.close());
    return part;
  }

  /** What has to end at once, also while requests still wait for it. */
  addFirst<T extends { close(): Promise<void> }>(part: T): T {
    this.#first.push(() => part.close());
    return part;
  }

  addListener(listener: Listener): Listener {
    this.#listeners.push(listener);
    return listener;
  }

  /** First all listeners, so that what they serve outlives their last request. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([
      ...this.#first.map((end) => end()),
      ...this.#listeners.map((listener) => listener.close(timeoutMs)),
    ]);
    for (const close of this.#closers.reverse()) await close();
  }
}

/**
 * The composition root: makes the service of a configuration. Nothing runs before {@link Service.start}.
 */
export function createService(loaded: LoadedConfig, overrides: ServiceOverrides = {}): Service {
  const { config } = loaded;
  const log = overrides.log ?? createLogger(config.log.level);
  const opened = new Opened();
  let domain: Promise<OpenDomain> | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= opened.close(config.limits.shutdownTimeoutMs));
  return {
    start: async () => {
      try {
        const isStopping = (): boolean => closing !== undefined;
        domain = openDomain(loaded, opened, { ...overrides, log }, isStopping);
        return await openHosts(config, await domain, opened, log);
      } catch (error) {
        await close();
        throw error;
      }
    },
    reload: async () => {
      if (domain === undefined)
        throw new FullmatchError('not_ready', 'The service has not started.');
      return (await domain).reloading.reload();
    },
    close,
  };
}

/** The hosts that may have private addresses: what the operator names may be on his own network. */
function findPrivateHosts(
  { compilers: { downloadUrl }, registry: { sync } }: Config,
  registry: ChainRegistry,
): readonly string[] {
  return [
    ...findOperatorHosts(registry.chains),
    ...findExplorerHosts(registry.chains),
    ...(downloadUrl === undefined ? [] : [hostPortOf(new URL(downloadUrl))]),
    ...sync.urls.filter(isUrlSource).map((url) => hostPortOf(new URL(url))),
  ];
}

/** Every request that goes out. Each caller has its own deadline and size; these hold where it says nothing. */
export function openGuardedFetch(config: Config, registry: ChainRegistry): GuardedFetch {
  return createGuardedFetch({
    allowPrivate: findPrivateHosts(config, registry),
    maxBytes: OUTBOUND_MAX_BYTES,
    deadlineMs: OUTBOUND_DEADLINE_MS,
    maxRedirects: OUTBOUND_MAX_REDIRECTS,
    userAgent: `fullmatch/${readPackageVersion()}`,
  });
}

/** Where compilers come from: the folder, installed packages, and the mirror if one is configured. */
export function compilerSourcesOf(
  { compilers: { folder, downloadUrl } }: Config,
  fetch: GuardedFetch,
): CompilerSources {
  return {
    directory: folder,
    ...(downloadUrl !== undefined && {
      download: { baseUrl: downloadUrl, directory: folder, fetch },
    }),
  };
}

/** What a verification knows of chains, and the way out to them. */
interface ChainParts {
  readonly registry: () => ChainRegistry;
  readonly quorumOf: (chainId: number) => 1 | 2 | undefined;
  readonly fetch: GuardedFetch;
  readonly rpc: RpcClient;
  /** Which endpoints know the state of old blocks. */
  readonly archive?: ChainHealth['archive'];
}

/** What a verification is made of: chain access, compilers, and the chains of the registry. */
export async function openVerificationParts(
  config: Config,
  { registry, quorumOf, fetch, rpc, archive }: ChainParts,
  log: Logger,
): Promise<VerificationParts & { readonly compilers: Compilers; close(): Promise<void> }> {
  const { timeoutMs, memoryBytes } = config.compilers;
  const compilers = await createCompilers(
    {
      sources: compilerSourcesOf(config, fetch),
      limits: { wallTimeMs: timeoutMs, memoryBytes },
      workers: Math.max(1, config.verification.workers),
    },
    log,
  );
  return {
    compilers,
    readDeployedCode: (chain, address, options) => readDeployedCode(rpc, chain, address, options),
    findCreation: (chain, address, options) =>
      findCreationTransaction({ rpc, fetch, ...(archive && { archive }) }, chain, address, options),
    findSupportedChain: (chainId) =>
      registry().chains.find(({ record }) => record.chainId === chainId && record.supported),
    quorumOf,
    close: () => compilers.close(),
  };
}

/** Keeps the documents, the statistics and the events true from now on. */
async function followMatches(
  {
    database,
    publisher,
    documents,
  }: { database: Database; publisher: Publisher; documents: Documents },
  opened: Opened,
  { events }: Config,
  log: Logger,
): Promise<Activity> {
  await publisher.refresh();
  const sources = { registry: () => publisher.registry, documents };
  const reader = createStatisticsReader(database);
  const activity = opened.addFirst(await openActivity({ reader, ...sources }, events));
  const refresh = async (): Promise<void> => {
    await publisher.refresh();
    await activity.refresh();
  };
  opened.add(await watchMatches(database, { pollMs: POLL_MS, refresh, log }));
  return activity;
}

/** What the hosts need, and the URLs that they add once they listen. */
type OpenDomain = HttpDependencies & {
  readonly reached: { api?: string; repository?: string };
  readonly reloading: Reloading;
};

/** Store, chain registry and documents: everything below HTTP. */
async function openDomain(
  loaded: LoadedConfig,
  opened: Opened,
  { log, listSyncTimes, loadAgain }: ServiceOverrides & { readonly log: Logger },
  isStopping: () => boolean,
): Promise<OpenDomain> {
  const { config } = loaded;
  const startedAt = new Date();
  const listRead = readChainList(config.registry);
  // Its failure is met below; the store is opened meanwhile.
  listRead.catch(() => undefined);
  const store = opened.add(await openStore({ ...config.database, dataDir: config.dataDir }, log));
  const { database } = store;
  const fallback = await listRead;
  const { urls } = config.registry.sync;
  const list = await readServedList(database, urls, fallback, log);

  const icons = { current: await openIcons(config.registry.icons) };
  const documents = opened.add(new Documents(log));
  const publisher = new Publisher(
    { list, options: config.registry, configured: config.chains, secrets: loaded.secrets },
    {
      readStatistics: () => readStatistics(database),
      publishedAt: (sha256) => recordPublication(database, sha256),
    },
    documents,
  );
  const registry = (): ChainRegistry => publisher.registry;
  const activity = await followMatches({ database, publisher, documents }, opened, config, log);
  const fetch = opened.add(openGuardedFetch(config, registry()));
  const syncParts = { database, fetch, fallback, served: list };
  const listSync = opened.addFirst(
    await startRegistrySync(config, syncParts, publisher, listSyncTimes, log),
  );
  const chainHealth = opened.addFirst(
    watchEndpoints(fetch, { registry, inputs: () => publisher.inputs }, config.health, log),
  );
  const { rpc, archive } = chainHealth;
  const quorumOf = (chainId: number): 1 | 2 | undefined =>
    publisher.inputs.configured.get(chainId)?.quorum;
  const parts = opened.add(
    await openVerificationParts(config, { registry, quorumOf, fetch, rpc, archive }, log),
  );
  const { workers, jobTimeoutMs, queueLimit, clientQueueLimit } = config.verification;
  const queue = { total: queueLimit, perClient: clientQueueLimit };
  const verification = opened.addFirst(
    await startVerification(database, parts, { workers, jobTimeoutMs, queue }, log),
  );

  const reloading = opened.add(
    await startReload(database, loaded, loadAgain ?? (() => loaded), {
      ...{ publisher, fetch, icons, log },
      readList: (options) => readUnsyncedList(database, urls, options),
      findPrivateHosts: () => findPrivateHosts(config, registry()),
    }),
  );

  const reached = {};
  return {
    reloading,
    documents,
    registry,
    icons: () => icons.current,
    chainHealth,
    compilers: parts.compilers,
    verification,
    verificationBytes: config.verification.requestBytes,
    contracts: createContractReader(database),
    contractLists: createContractLists(database),
    activity,
    health: () =>
      composeHealth({
        now: new Date(),
        startedAt,
        ...publisher.facts,
        configuration: reloading.state,
        ...(listSync.state && { listSync: listSync.state }),
        ...(verification.queue && { queue: verification.queue }),
        compilers: parts.compilers.describe(),
        probedChains: chainHealth.summary(),
        documents: {
          chains: documents.current.chains !== undefined,
          statistics: documents.current.statistics !== undefined,
        },
        stopping: isStopping(),
      }),
    pages: await readWebBundle(),
    version: readPackageVersion(),
    apiPrefix: config.api.prefix,
    reached,
    urls: () => reached,
    log,
  };
}

/** The public list by the options, unless one that was synced is served: that one stays. */
async function readUnsyncedList(
  database: Database,
  sources: readonly string[],
  options: Config['registry'],
): Promise<ChainList | undefined> {
  const synced = await readCurrentSnapshot(database, sources);
  return synced === undefined ? readChainList(options) : undefined;
}

/** Keeps the public list of the registry current. */
function startRegistrySync(
  { registry: { sync } }: Config,
  parts: Pick<ListSyncParts, 'database' | 'fetch' | 'fallback' | 'served'>,
  publisher: Publisher,
  times: Partial<ListSyncTimes> | undefined,
  log: Logger,
): Promise<ListSync> {
  const readContractChainIds = async (): Promise<readonly number[]> =>
    (await readStatistics(parts.database)).chains.map(({ chainId }) => chainId);
  return startListSync(
    {
      ...parts,
      ...createSyncRules(() => publisher.inputs, readContractChainIds, sync.maxShrinkPercent),
      publish: (newer) => publisher.replace({ list: newer }),
    },
    sync.urls,
    { everyMs: sync.everySeconds * 1000, ...times },
    log,
  );
}

/** The hosts that are switched on, each an app on a port. */
async function openHosts(
  { api, repository, metrics: metricsConfig, host, limits }: Config,
  dependencies: OpenDomain,
  opened: Opened,
  log: Logger,
): Promise<ServiceUrls> {
  const { reached } = dependencies;
  const metrics = metricsConfig.enabled ? createMetrics(dependencies) : undefined;
  const listenOn = async (app: HostApp, options: Omit<ListenOptions, 'limits'>): Promise<string> =>
    opened.addListener(await listen(app, { ...options, limits }, log)).url;

  const urls: { apiUrl?: string; repositoryUrl?: string; metricsUrl?: string } = {};
  if (api.enabled) {
    const observe = metrics?.observer('api');
    const options = { host, port: api.port, ...(observe && { observe }) };
    urls.apiUrl = await listenOn(createApiApp(dependencies), options);
    reached.api = api.publicUrl ?? urls.apiUrl;
  }
  if (repository.enabled) {
    const observe = metrics?.observer('repository');
    const options = { host, port: repository.port, ...(observe && { observe }) };
    urls.repositoryUrl = await listenOn(createRepositoryApp(dependencies), options);
    reached.repository = repository.publicUrl ?? urls.repositoryUrl;
  }
  if (metrics !== undefined) {
    const options = { host: LOOPBACK, port: metricsConfig.port };
    urls.metricsUrl = await listenOn(createMetricsApp(metrics, log), options);
  }
  return urls;
}
