import { makeRegistry, readChainList } from './chains/load-registry.ts';
import { recordPublication } from './chains/publication-time.ts';
import { type LoadedConfig } from './config/config.ts';
import { createApiApp } from './http/api/api-app.ts';
import { Documents } from './http/documents.ts';
import { composeHealth } from './http/health.ts';
import { type HostApp } from './http/host-app.ts';
import { type HttpDependencies } from './http/host-dependencies.ts';
import { listen, type Listener } from './http/listener.ts';
import { Publisher } from './http/publisher.ts';
import { createRepositoryApp } from './http/repository/repository-app.ts';
import { readPackageVersion } from './lib/package-version.ts';
import { createLogger, type Logger } from './log.ts';
import { readStatistics } from './repository/statistics.ts';
import { watchMatches } from './repository/watch-matches.ts';
import { openStore } from './store/open-store.ts';

/** How long a change of another process may stay unseen when its notification is lost. */
const POLL_MS = 500;

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
  /** Finishes the requests that have begun, then closes everything; resolves when nothing is left. */
  close(): Promise<void>;
}

/** What may be replaced of the service. */
export interface ServiceOverrides {
  readonly log?: Logger;
}

/**
 * The composition root: makes the service of a configuration. Nothing runs before {@link Service.start}.
 */
export function createService(loaded: LoadedConfig, overrides: ServiceOverrides = {}): Service {
  const { config } = loaded;
  const log = overrides.log ?? createLogger(config.log.level);
  const startedAt = new Date();
  /** What is open, in the order of opening; it is closed in the reverse order. */
  const opened: (() => Promise<void>)[] = [];
  const listeners: Listener[] = [];
  let stopping = false;
  let closing: Promise<void> | undefined;

  const start = async (): Promise<ServiceUrls> => {
    const [list, store] = await Promise.all([
      readChainList(config.registry),
      openStore({ ...config.database, dataDir: config.dataDir }, log),
    ]);
    opened.push(() => store.close());
    const { database } = store;

    const documents = new Documents(log);
    opened.push(() => documents.close());
    const publisher = new Publisher(
      {
        readStatistics: () => readStatistics(database),
        makeRegistry: (chainIds) => makeRegistry(list, config.registry, config.chains, chainIds),
        publishedAt: (sha256) => recordPublication(database, sha256),
        secrets: loaded.secrets,
      },
      documents,
    );
    await publisher.refresh();
    const watch = await watchMatches(database, {
      pollMs: POLL_MS,
      refresh: () => publisher.refresh(),
      log,
    });
    opened.push(() => watch.close());

    const bound: { apiUrl?: string; repositoryUrl?: string } = {};
    const urls: { api?: string; repository?: string } = {};
    const dependencies: HttpDependencies = {
      documents,
      registry: () => publisher.registry,
      health: () =>
        composeHealth({
          now: new Date(),
          startedAt,
          ...publisher.facts,
          documents: {
            chains: documents.current.chains !== undefined,
            statistics: documents.current.statistics !== undefined,
          },
          stopping,
        }),
      version: readPackageVersion(),
      apiPrefix: config.api.prefix,
      urls: () => urls,
      log,
    };
    const listenOn = async (app: HostApp, port: number): Promise<string> => {
      const { host, limits } = config;
      const listener = await listen(app, { host, port, limits }, log);
      listeners.push(listener);
      return listener.url;
    };
    if (config.api.enabled) {
      const url = await listenOn(createApiApp(dependencies), config.api.port);
      bound.apiUrl = url;
      urls.api = config.api.publicUrl ?? url;
    }
    if (config.repository.enabled) {
      const url = await listenOn(createRepositoryApp(dependencies), config.repository.port);
      bound.repositoryUrl = url;
      urls.repository = config.repository.publicUrl ?? url;
    }
    return bound;
  };

  const closeAll = async (): Promise<void> => {
    stopping = true;
    await Promise.all(listeners.map((listener) => listener.close(config.limits.shutdownTimeoutMs)));
    for (const close of opened.reverse()) await close();
  };
  const close = (): Promise<void> => (closing ??= closeAll());

  return {
    start: async () => {
      try {
        return await start();
      } catch (error) {
        await close();
        throw error;
      }
    },
    close,
  };
}
