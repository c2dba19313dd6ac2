import { readEmbeddedList, readListFile, type ChainList } from '../list/chain-list.ts';
import { defaultServiceChains } from './default-service-chains.ts';
import { buildRegistry, type ChainRegistry, type RegistryInput } from './registry.ts';
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

/** The default service configuration, if the options enable it. */
export function chosenDefaults({
  defaults,
}: Pick<RegistryOptions, 'defaults'>): ReadonlyMap<number, ServiceChain> {
  return defaults ? defaultServiceChains : new Map();
}

/** Builds the registry that the options describe, see {@link buildRegistry}. */
export function createRegistry({
  options,
  ...sources
}: Pick<RegistryInput, 'list' | 'configured' | 'contractChainIds' | 'watched'> & {
  readonly options: RegistryOptions;
}): ChainRegistry {
  const { include, localChains } = options;
  return buildRegistry({ ...sources, include, localChains, defaults: chosenDefaults(options) });
}
