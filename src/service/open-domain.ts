import { openIcons } from '../chains/registry/chain-icons.ts';
import { watchEndpoints } from '../chains/health/chain-health.ts';
import { readChainList } from '../chains/registry/load-registry.ts';
import { recordPublication } from '../chains/registry/publication-time.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type ListSyncTimes, readServedList } from '../chains/list/start-list-sync.ts';
import { type Compilers } from '../compilers/compilers.ts';
import { type Config, type LoadedConfig } from '../config/config.ts';
import { readWebBundle } from '../http/api/pages/web-bundle.ts';
import { type Activity, openActivity } from '../publication/activity.ts';
import { createRequestReader, type RequestReader } from '../http/bodies/request-reader.ts';
import { parseTrustedProxies, type TrustedProxies } from '../http/client-of.ts';
import { Documents, type DocumentsOptions } from '../publication/documents.ts';
import { RecordAnswers } from '../http/records/record-answers.ts';
import { composeHealth } from '../http/health.ts';
import { type HttpDependencies } from '../http/host-dependencies.ts';
import { Publisher } from '../publication/publisher.ts';
import { readPackageVersion } from '../lib/package-version.ts';
import { type Logger } from '../log.ts';
import { type Reloading, startReload } from '../reload/start-reload.ts';
import { createContractLists } from '../repository/lists/contract-lists.ts';
import { createContractReader } from '../repository/matches/contract-reader.ts';
import { createStatisticsReader } from '../repository/statistics/statistics-reader.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { watchMatches } from '../publication/watch-matches.ts';
import { type Database, SERVING_TIME_LIMIT_MS } from '../store/database.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { startRecheckWalk } from '../verification/recheck-walk.ts';
import {
  startVerification,
  type Verification,
  type VerificationOptions,
} from '../verification/verification.ts';
import { type Closers } from './closers.ts';
import { findPrivateHosts, openGuardedFetch } from './outbound.ts';
import { readUnsyncedList, startRegistrySync } from '../publication/registry-sync.ts';
import { openVerificationParts, type ChainParts } from './verification-parts.ts';

/** How long a change of another process may stay unseen when its notification is lost. */
const POLL_MS = 500;

/** What may be replaced of the service. */
export interface ServiceOverrides extends DocumentsOptions {
  readonly log?: Logger;
  /** Reads the configuration again for a reload; without it a reload finds what the service started with. */
  readonly loadAgain?: () => LoadedConfig;
  /** In place of the times that the configuration gives. */
  readonly listSyncTimes?: Partial<ListSyncTimes>;
  /** What verifications compile with, over the compilers of the configuration. */
  readonly compilersOver?: (compilers: Compilers) => Compilers;
}

type LoggedOverrides = ServiceOverrides & { readonly log: Logger };

/** What the hosts need, and the URLs that they add once they listen. */
export type OpenDomain = HttpDependencies & {
  readonly reached: { api?: string; repository?: string };
  readonly reloading: Reloading;
};

/** Store, chain registry and documents: everything below HTTP. */
export async function openDomain(
  loaded: LoadedConfig,
  closers: Closers,
  { log, listSyncTimes, loadAgain, compilersOver = (found) => found, ...more }: LoggedOverrides,
  isStopping: () => boolean,
): Promise<OpenDomain> {
  const { config } = loaded;
  const startedAt = new Date();
  const listRead = readChainList(config.registry);
  // Its failure is met below; the store is opened meanwhile.
  listRead.catch(() => undefined);
  const store = closers.add(
    await openStore({ ...config.database, dataDir: config.dataDir, watch: true }, log),
  );
  const { database } = store;
  const serving = database.limited(SERVING_TIME_LIMIT_MS);
  const fallback = await listRead;
  const { urls } = config.registry.sync;
  const list = await readServedList(database, urls, fallback, log);

  const icons = { current: await openIcons(config.registry.icons) };
  const documents = closers.addFirst(new Documents(log, more));
  const publisher = new Publisher(
    { list, options: config.registry, configured: config.chains, secrets: loaded.secrets },
    {
      readStatistics: () => readStatistics(serving),
      publishedAt: (sha256) => recordPublication(database, sha256),
    },
    documents,
  );
  const registry = (): ChainRegistry => publisher.registry;
  const activity = await followMatches({ database, publisher, documents }, closers, config, log);
  const fetch = closers.add(openGuardedFetch(config, registry()));
  const syncParts = { database, fetch, fallback, served: list };
  const listSync = closers.addFirst(
    await startRegistrySync(config, syncParts, publisher, listSyncTimes, log),
  );
  const chainHealth = closers.addFirst(
    watchEndpoints(fetch, { registry, inputs: () => publisher.inputs }, config.health, log),
  );
  const chainParts = { registry, fetch, rpc: chainHealth.rpc, archive: chainHealth.archive };
  const { parts, verification } = await openVerification(
    { config, store, publisher, log, compilersOver },
    closers,
    chainParts,
  );

  const reloading = closers.add(
    await startReload(database, loaded, loadAgain ?? (() => loaded), {
      ...{ publisher, fetch, icons, log },
      readList: (options) => readUnsyncedList(database, urls, options),
      findPrivateHosts: () => findPrivateHosts(config, registry()),
    }),
  );

  const trustedProxies = parseTrustedProxies(config.http.trustedProxies);
  const reached = {};
  return {
    reloading,
    documents,
    registry,
    icons: () => icons.current,
    chainHealth,
    compilers: parts.compilers,
    requests: closers.add(openRequestReader(config, trustedProxies, log)),
    verification,
    trustedProxies,
    verificationBytes: config.verification.requestBytes,
    contracts: createContractReader(serving),
    answers: closers.add(openRecordAnswers(config, trustedProxies)),
    contractLists: createContractLists(serving),
    activity,
    health: () =>
      composeHealth({
        now: new Date(),
        startedAt,
        ...publisher.facts,
        store: store.condition(),
        configuration: reloading.state,
        ...(listSync.state && { listSync: listSync.state }),
        ...(verification.queue && { queue: verification.queue }),
        compilers: parts.compilers.describe(),
        probedChains: chainHealth.summary(),
        documents: publishedOf(documents),
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

/** The verification, and the walk that looks whether verified code was replaced. */
async function openVerification(
  {
    config,
    store,
    publisher,
    log,
    compilersOver,
  }: {
    config: Config;
    store: Store;
    publisher: Publisher;
    log: Logger;
    compilersOver: (found: Compilers) => Compilers;
  },
  closers: Closers,
  chainParts: Omit<ChainParts, 'quorumOf'>,
): Promise<{
  readonly parts: Awaited<ReturnType<typeof openVerificationParts>>;
  readonly verification: Verification;
}> {
  const { database } = store;
  const configured = (): Publisher['inputs']['configured'] => publisher.inputs.configured;
  const quorumOf = (chainId: number): 1 | 2 | undefined => configured().get(chainId)?.quorum;
  const found = closers.add(await openVerificationParts(config, { ...chainParts, quorumOf }, log));
  const parts = { ...found, compilers: compilersOver(found.compilers) };
  const verification = closers.addFirst(
    await startVerification(database, parts, verificationOptions(config, store), log),
  );
  const { recheckPerHour: perHour } = config.verification;
  closers.addFirst(
    startRecheckWalk(database, parts, () => [...configured().keys()], { perHour }, log),
  );
  return { parts, verification };
}

function openRequestReader(
  { limits, verification, dataDir }: Config,
  trustedProxies: TrustedProxies,
  log: Logger,
): RequestReader {
  const options = {
    bodies: {
      memoryBytes: limits.bodyMemoryBytes,
      spoolBytes: limits.bodySpoolBytes,
      clientBytes: limits.clientBodyBytes,
    },
    request: {
      depth: limits.jsonDepth,
      values: limits.jsonValues,
      sources: limits.sources,
      // Twice what is kept, since not all that is sent has to be needed.
      sourceBytes: 2 * limits.sourceBytes,
    },
    bodyBytes: verification.requestBytes,
    dataDir,
    trustedProxies,
  };
  return createRequestReader(options, log);
}

/** A third of the connections, so that look-ups always find one. */
const READERS_PER_CONNECTION = 1 / 3;

function openRecordAnswers(
  { limits, database }: Config,
  trustedProxies: TrustedProxies,
): RecordAnswers {
  return new RecordAnswers({
    cacheBytes: limits.answerCacheBytes,
    limits: { bytes: limits.answerBytes, clientBytes: limits.clientAnswerBytes },
    readers: Math.max(1, Math.floor(database.poolSize * READERS_PER_CONNECTION)),
    trustedProxies,
    version: readPackageVersion(),
  });
}

function publishedOf({ current }: Documents): { chains: boolean; statistics: boolean } {
  return { chains: current.chains !== undefined, statistics: current.statistics !== undefined };
}

function verificationOptions(
  { verification: options }: Config,
  { requireSpace }: Store,
): VerificationOptions {
  const { workers, jobTimeoutMs } = options;
  return {
    workers,
    jobTimeoutMs,
    queue: { total: options.queueLimit, perClient: options.clientQueueLimit },
    waiters: {
      total: options.waitingRequests,
      perClient: options.clientWaitingRequests,
      perJob: options.jobWaitingRequests,
    },
    requireSpace,
  };
}

/** Keeps the documents, the statistics and the events true from now on. */
async function followMatches(
  {
    database,
    publisher,
    documents,
  }: { database: Database; publisher: Publisher; documents: Documents },
  closers: Closers,
  { events }: Config,
  log: Logger,
): Promise<Activity> {
  await publisher.refresh();
  const sources = { registry: () => publisher.registry, documents, log };
  const reader = createStatisticsReader(database, database.limited(SERVING_TIME_LIMIT_MS));
  const activity = closers.addFirst(await openActivity({ reader, ...sources }, events));
  const refresh = async (): Promise<void> => {
    await publisher.refresh();
    activity.refresh();
  };
  closers.add(await watchMatches(database, { pollMs: POLL_MS, refresh, log }));
  return activity;
}
