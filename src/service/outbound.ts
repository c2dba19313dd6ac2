import { findExplorerHosts } from '../chains/creation/explorer-hits.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { findOperatorHosts } from '../chains/rpc/asked-chain.ts';
import { isUrlSource } from '../chains/list/list-source.ts';
import { type Config } from '../config/config.ts';
import { hostPortOf } from '../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../lib/guarded-fetch.ts';
import { readPackageVersion } from '../lib/package-version.ts';

const MAX_BYTES = 1_000_000;
const DEADLINE_MS = 30_000;
const MAX_REDIRECTS = 3;

/** The hosts that may have private addresses: what the operator names may be on his own network. */
export function findPrivateHosts(
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
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
    maxRedirects: MAX_REDIRECTS,
    userAgent: `fullmatch/${readPackageVersion()}`,
  });
}
