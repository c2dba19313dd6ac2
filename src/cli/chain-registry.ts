import { makeRegistry, readChainList } from '../chains/registry/load-registry.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type Config } from '../config/config.ts';

/** The chain registry that a configuration gives, with the chains that are said to have contracts. */
export async function loadRegistry(
  { registry, chains }: Config,
  contractChainIds: readonly number[] = [],
): Promise<ChainRegistry> {
  return makeRegistry(await readChainList(registry), registry, chains, contractChainIds);
}
