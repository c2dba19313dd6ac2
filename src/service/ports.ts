import { type Config } from '../config/config.ts';
import { tryPort } from '../http/try-port.ts';

/** Metrics and the operator's page listen only on the operator's own machine, whatever address the hosts bind. */
export const LOOPBACK = '127.0.0.1';

/** Listeners, named by their configuration section. */
export type HostName = 'api' | 'repository' | 'metrics' | 'operator';

/** A port of the configuration; 0 picks a free one. */
export interface ConfiguredPort {
  readonly name: HostName;
  readonly host: string;
  readonly port: number;
}

/** Returns the ports that the configuration opens. */
export function portsOf(config: Config): readonly ConfiguredPort[] {
  const hosts = {
    api: config.host,
    repository: config.host,
    metrics: LOOPBACK,
    operator: LOOPBACK,
  };
  return (['api', 'repository', 'metrics', 'operator'] as const)
    .filter((name) => config[name].enabled)
    .map((name) => ({ name, host: hosts[name], port: config[name].port }));
}

/**
 * Fails if a configured port is in use. Called before a start creates a database that would then be unused.
 * @throws FullmatchError `port_unavailable`
 */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const place of portsOf(config)) if (place.port !== 0) await tryPort(place);
}
