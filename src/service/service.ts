// The service: a core that runs, and the hosts that serve it.
import { type CoreOverrides, openCore } from '../core/open-core.ts';
import { type ReloadOutcome } from '../core/reloader.ts';
import { runCore, type RunOverrides } from '../core/run-core.ts';
import { type LoadedConfig } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type DocumentsOptions } from '../publication/documents.ts';
import { type PublicationFacts } from '../publication/publication-facts.ts';
import { type ServiceUrls } from './open-hosts.ts';
import { requireFreePorts } from './ports.ts';

/** The whole service in one process. */
export interface Service {
  /** Opens the store, publishes both documents and listens. What it opened before a failure is closed again. */
  start(): Promise<ServiceUrls>;
  /**
   * What it publishes, as it is now.
   * @throws FullmatchError `not_ready` before the start, or that of a start that failed
   */
  facts(): Promise<PublicationFacts>;
  /**
   * Reads the configuration again and puts into force what can change: chains, `registry.*` but its sync, `log.level`.
   * @throws FullmatchError `not_ready` before the start, or that of a start that failed
   */
  reload(): Promise<ReloadOutcome>;
  /** Finishes the requests that have begun, then closes everything; resolves when nothing is left. */
  close(): Promise<void>;
}

/** So many clients at least share the connections to the event stream. */
const EVENT_CLIENTS = 4;

/** What may be replaced of the service. */
export interface ServiceOverrides
  extends Omit<CoreOverrides, 'log'>, RunOverrides, DocumentsOptions {
  readonly log?: Logger;
}

/**
 * The composition root: makes the service of a configuration, which is its core and its hosts. Nothing runs before
 * {@link Service.start}.
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
  let running: ReturnType<typeof runCore> | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= core.close());
  const started = async (): ReturnType<typeof runCore> => {
    if (running === undefined)
      throw new FullmatchError('not_ready', 'The service has not started.');
    return running;
  };
  return {
    start: async () => {
      try {
        await requireFreePorts(loaded.config);
        running = runCore(core, overrides);
        const ran = await running;
        // Loaded behind the core, so that a low limit of descriptors bears the start.
        const { openHosts } = await import('./open-hosts.ts');
        return await openHosts(core, ran, () => closing !== undefined);
      } catch (error) {
        await close();
        throw error;
      }
    },
    facts: async () => (await started()).publication.facts,
    reload: async () => (await started()).reloader.reload(),
    close,
  };
}
