import { type Config } from '../config/config.ts';
import { tryPort } from '../http/try-port.ts';

/** Metrics and the operator's page are for the operator's own machine, whatever the hosts bind. */
export const LOOPBACK = '127.0.0.1';

/** What listens, or would, by the section of its configuration. */
export type HostName = 'api' | 'repository' | 'metrics' | 'operator';

/** A port of the configuration; 0 picks a free one. */
export interface ConfiguredPort {
  readonly name: HostName;
  readonly host: string;
  readonly port: number;
}

/** The ports that the configuration opens. */
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
 * Fails when a configured port is taken. A start calls it before it makes a database that nobody would use then.
 * @throws FullmatchError `port_unavailable`
 */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const place of portsOf(config)) if (place.port !== 0) await tryPort(place);
}
