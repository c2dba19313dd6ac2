import { createHash } from 'node:crypto';
import { type ChainList } from '../../src/chains/list/chain-list.ts';
import { type ListRecord } from '../../src/chains/registry/list-record.ts';
import { buildRegistry, type ChainRegistry } from '../../src/chains/registry/registry.ts';
import { type MonitoredChain } from '../../src/chains/registry/monitored-chain.ts';
import { type ServiceChain } from '../../src/chains/registry/service-chain.ts';

/** A chain list of valid records. */
export function chainListOf(records: readonly ListRecord[]): ChainList {
  const sha256 = createHash('sha256').update(JSON.stringify(records)).digest('hex');
  return { records, quarantined: [], source: 'test', sha256 };
}

/** A service configuration from its entries. */
export function serviceChains(
  ...entries: readonly ServiceChain[]
): ReadonlyMap<number, ServiceChain> {
  return new Map(entries.map((entry) => [entry.chainId, entry]));
}

/** A registry of some sources; the others are empty. */
export function registryOf(
  sources: {
    readonly list?: readonly ListRecord[];
    readonly defaults?: readonly ServiceChain[];
    readonly configured?: readonly ServiceChain[];
    readonly include?: 'all' | 'configured';
    readonly localChains?: boolean;
    readonly contracts?: readonly number[];
    readonly watched?: readonly number[];
  } = {},
): ChainRegistry {
  return buildRegistry({
    list: chainListOf(sources.list ?? []),
    defaults: serviceChains(...(sources.defaults ?? [])),
    configured: serviceChains(...(sources.configured ?? [])),
    include: sources.include ?? 'all',
    localChains: sources.localChains ?? false,
    contractChainIds: sources.contracts ?? [],
    watched: new Set(sources.watched),
  });
}

/** Expansion of `monitor: true`. */
export const MONITOR: MonitoredChain = {
  from: 'head',
  confirmations: 0,
  traces: true,
  gateways: [],
};
