// The registry of chains: the public list merged with the service configuration.
import { type ChainList } from '../list/chain-list.ts';
import { displaySource } from '../list/source-name.ts';
import {
  DEMONSTRATION_CHAIN_ID,
  demonstrationChain,
  localServiceChains,
} from './default-service-chains.ts';
import { compareFindings, type Finding } from './finding.ts';
import { type ListRecord } from './list-record.ts';
import { mergeChain, type ChainEntries } from './merge-chain.ts';
import { type RegisteredChain } from './registered-chain.ts';
import { reviewRegistry } from './review-registry.ts';
import { type ServiceChain } from './service-chain.ts';

export { type Finding } from './finding.ts';
export { type RegisteredChain } from './registered-chain.ts';

/** All chains that the service knows, and findings about their sources. Immutable: a change creates a new one. */
export interface ChainRegistry {
  /** Ascending chainId; each id once. */
  readonly chains: readonly RegisteredChain[];
  /** Most severe first. */
  readonly findings: readonly Finding[];
  /** `embedded`, the operator's list file, or the source that the list was synced from. */
  readonly listSource: string;
  readonly listSha256: string;
}

/** Sources of a chain registry. */
export interface RegistryInput {
  readonly list: ChainList;
  /**
   * The default service configuration; it applies to chains that are listed or configured. An empty map
   * disables it.
   */
  readonly defaults: ReadonlyMap<number, ServiceChain>;
  /** The operator's service configuration. */
  readonly configured: ReadonlyMap<number, ServiceChain>;
  /** `configured` omits listed chains that the operator did not configure and that have no contracts. */
  readonly include: 'all' | 'configured';
  /** Enables the local chains 1337 and 31337; they replace the list's records of these ids. */
  readonly localChains: boolean;
  /** Every chain that ever stored a contract: it has a record regardless of the other sources. */
  readonly contractChainIds: readonly number[];
  /** Chains with a monitor that keeps up; empty if unknown. */
  readonly watched?: ReadonlySet<number>;
}

function pickDefaults(
  input: RegistryInput,
  listed: ReadonlyMap<number, ListRecord>,
): ReadonlyMap<number, ServiceChain> {
  const known = [...input.defaults].filter(
    ([chainId]) => listed.has(chainId) || input.configured.has(chainId),
  );
  // Its contracts are never attributed to a real chain, regardless of the default configuration.
  const isShown = input.contractChainIds.includes(DEMONSTRATION_CHAIN_ID);
  return new Map([
    ...known,
    ...(input.localChains ? localServiceChains : []),
    ...(isShown ? ([[DEMONSTRATION_CHAIN_ID, demonstrationChain]] as const) : []),
  ]);
}

/** Builds the chain registry from its sources alone: the same sources in any order give the same registry. */
export function buildRegistry(input: RegistryInput): ChainRegistry {
  const records = input.list.records.map((record) => [record.chainId, record] as const);
  const listed = new Map<number, ListRecord>(records);
  const defaults = pickDefaults(input, listed);
  // The local chains are not the chains that the list has under their ids.
  if (input.localChains) for (const chainId of localServiceChains.keys()) listed.delete(chainId);

  const included = new Set([
    ...(input.include === 'all' ? listed.keys() : []),
    ...(input.localChains ? localServiceChains.keys() : []),
    ...input.configured.keys(),
    ...input.contractChainIds,
  ]);
  const chains: RegisteredChain[] = [];
  const findings: Finding[] = [...input.list.quarantined];
  for (const chainId of [...included].sort((left, right) => left - right)) {
    const merged = mergeChain({
      ...entriesOf(chainId, { listed, defaults, configured: input.configured }),
      isWatched: input.watched?.has(chainId) === true,
    });
    chains.push(merged.chain);
    findings.push(...merged.findings);
  }
  findings.push(...reviewRegistry(chains, input, listed));
  return {
    chains,
    findings: findings.sort(compareFindings),
    listSource: displaySource(input.list.source),
    listSha256: input.list.sha256,
  };
}

function entriesOf(
  chainId: number,
  maps: {
    readonly listed: ReadonlyMap<number, ListRecord>;
    readonly defaults: ReadonlyMap<number, ServiceChain>;
    readonly configured: ReadonlyMap<number, ServiceChain>;
  },
): ChainEntries {
  const listed = maps.listed.get(chainId);
  const defaults = maps.defaults.get(chainId);
  const configured = maps.configured.get(chainId);
  return {
    chainId,
    ...(listed === undefined ? {} : { listed }),
    ...(defaults === undefined ? {} : { defaults }),
    ...(configured === undefined ? {} : { configured }),
  };
}
