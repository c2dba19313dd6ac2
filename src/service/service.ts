// The service: a core that runs, and the hosts that serve it.
import { type CoreOverrides, openCore } from '../core/open-core.ts';
import { type ReloadOutcome } from '../core/reloader.ts';
import { type RunningCore, type RunOverrides } from '../core/run-core.ts';
import { type LoadedConfig } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type DocumentsOptions } from '../publication/documents.ts';
import { type PublicationFacts } from '../publication/publication-facts.ts';
import { type MatchCounts } from '../repository/repository.ts';
import { type ServiceUrls } from './open-hosts.ts';
import { requireFreePorts } from './ports.ts';

/** The whole service in one process. */
export interface Service {
  /** Opens the store, publishes both documents and listens. If it fails, it closes what it opened. */
  start(): Promise<ServiceUrls>;
  /**
   * Returns what the service currently publishes, and how many of its contracts are claims, if that is known.
   * @throws FullmatchError `not_ready` before the start; the error of a failed start
   */
  facts(): Promise<PublicationFacts & { readonly claims: MatchCounts | undefined }>;
  /**
   * Reloads the configuration and applies what can change: chains, `registry.*` except its sync, `log.level`.
   * @throws FullmatchError `not_ready` before the start; the error of a failed start
   */
  reload(): Promise<ReloadOutcome>;
  /** Finishes requests in progress, then closes everything; resolves when nothing is left. */
  close(): Promise<void>;
}

/** Minimum number of clients that share the event stream connections. */
const EVENT_CLIENTS = 4;

/** Parts of the service that tests may replace. */
export interface ServiceOverrides
  extends Omit<CoreOverrides, 'log'>, RunOverrides, DocumentsOptions {
  readonly log?: Logger;
}

/**
 * The composition root: creates a service, consisting of a core and its hosts, from a configuration. Nothing
 * runs before {@link Service.start}.
 */
export function createService(loaded: LoadedConfig, overrides: ServiceOverrides = {}): Service {
  const { api, repository, events } = loaded.config;
  const { brotliDelayMs, log, ...replaced } = overrides;
  const core = openCore(loaded, {
    ...replaced,
    registry: 'published',
    ...(log && { log: async () => log }),
    ...((api.enabled || repository.enabled) && {
      served: {
        events: { ...events, connectionsPerClient: Math.ceil(events.maxClients / EVENT_CLIENTS) },
        ...(brotliDelayMs !== undefined && { brotliDelayMs }),
      },
    }),
  });
  let running: Promise<RunningCore> | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= core.close());
  const started = async (): Promise<RunningCore> => {
    if (running === undefined)
      throw new FullmatchError('not_ready', 'The service has not started.');
    return running;
  };
  return {
    start: async () => {
      try {
        await requireFreePorts(loaded.config);
        // PostgreSQL starts while the modules are loaded.
        await core.beginStore();
        running = import('../core/run-core.ts').then(({ runCore }) => runCore(core, overrides));
        const [ran, { openHosts }] = await Promise.all([running, import('./open-hosts.ts')]);
        return await openHosts(core, ran, () => closing !== undefined);
      } catch (error) {
        await close();
        throw error;
      }
    },
    facts: async () => {
      const { publication } = await started();
      return { ...publication.facts, claims: await publication.readClaims() };
    },
    reload: async () => (await started()).reloader.reload(),
    close,
  };
}
