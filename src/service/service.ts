import { type LoadedConfig } from '../config/config.ts';
import { FullmatchError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { type ReloadOutcome } from '../reload/reloader.ts';
import { openDomain, type OpenDomain, type ServiceOverrides } from './open-domain.ts';
import { openHosts, type ServiceUrls } from './open-hosts.ts';
import { Closers } from './closers.ts';

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

/**
 * The composition root: makes the service of a configuration. Nothing runs before {@link Service.start}.
 */
export function createService(loaded: LoadedConfig, overrides: ServiceOverrides = {}): Service {
  const { config } = loaded;
  const log = overrides.log ?? createLogger(config.log.level);
  const closers = new Closers();
  let domain: Promise<OpenDomain> | undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closers.close(config.limits.shutdownTimeoutMs));
  return {
    start: async () => {
      try {
        const isStopping = (): boolean => closing !== undefined;
        domain = openDomain(loaded, closers, { ...overrides, log }, isStopping);
        return await openHosts(config, await domain, closers, log);
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
