import { type Config } from './config.ts';

/** Addresses that stand for all of the machine's: no URL of clients can be made of them. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * The hosts that are open to the network and whose URL nobody told: links on their pages, and in their documents, lead to
 * this machine alone.
 */
export function hostsWithoutPublicUrl(config: Config): readonly ('api' | 'repository')[] {
  if (!WILDCARDS.has(config.host)) return [];
  return (['api', 'repository'] as const).filter((host) => {
    const { enabled, publicUrl } = config[host];
    return enabled && publicUrl === undefined;
  });
}
