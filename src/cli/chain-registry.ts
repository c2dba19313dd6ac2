import { readEmbeddedList, readListFile } from '../chains/chain-list.ts';
import { defaultServiceChains } from '../chains/default-service-chains.ts';
import { buildRegistry, type ChainRegistry } from '../chains/registry.ts';
import { type Config } from '../config/config.ts';

/** The chain registry that a configuration gives, with the chains that are said to have contracts. */
export async function loadRegistry(
  { registry, chains }: Config,
  contractChainIds: readonly number[] = [],
): Promise<ChainRegistry> {
  return buildRegistry({
    list:
      registry.list === undefined ? await readEmbeddedList() : await readListFile(registry.list),
    defaults: registry.defaults ? defaultServiceChains : new Map(),
    configured: chains,
    include: registry.include,
    localChains: registry.localChains,
    contractChainIds,
  });
}
