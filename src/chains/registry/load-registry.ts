import { readEmbeddedList, readListFile, type ChainList } from '../list/chain-list.ts';
import { defaultServiceChains } from './default-service-chains.ts';
import { buildRegistry, type ChainRegistry } from './registry.ts';
import { type ServiceChain } from './service-chain.ts';

/** Configuration of the chain registry. */
export interface RegistryOptions {
  /** `configured` omits listed chains that are neither configured nor have contracts. */
  readonly include: 'all' | 'configured';
  /** Absolute path of the operator's own list file; the embedded list if absent. */
  readonly list?: string;
  /** Whether the default service configuration applies. */
  readonly defaults: boolean;
  /** Whether the local chains 1337 and 31337 exist. */
  readonly localChains: boolean;
}

/**
 * Loads the public list that the options name.
 * @throws FullmatchError invalid_chain_list
 */
export function readChainList({ list }: RegistryOptions): Promise<ChainList> {
  return list === undefined ? readEmbeddedList() : readListFile(list);
}

/**
 * Builds the chain registry from a list, the options, the operator's chains, the chains that have contracts,
 * and those whose monitor keeps up.
 */
export function createRegistry(
  list: ChainList,
  options: RegistryOptions,
  configured: ReadonlyMap<number, ServiceChain>,
  contractChainIds: readonly number[],
  watched: ReadonlySet<number> = new Set(),
): ChainRegistry {
  return buildRegistry({
    list,
    defaults: options.defaults ? defaultServiceChains : new Map(),
    configured,
    include: options.include,
    localChains: options.localChains,
    contractChainIds,
    watched,
  });
}
