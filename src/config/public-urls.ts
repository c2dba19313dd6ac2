import { type Config } from './config.ts';

/** Wildcard addresses, from which no client URL can be built. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * Returns the hosts that are open to the network but have no public URL: links on their pages and in their
 * documents lead to this machine only.
 */
export function hostsWithoutPublicUrl(config: Config): readonly ('api' | 'repository')[] {
  if (!WILDCARDS.has(config.host)) return [];
  return (['api', 'repository'] as const).filter((host) => {
    const { enabled, publicUrl } = config[host];
    return enabled && publicUrl === undefined;
  });
}
