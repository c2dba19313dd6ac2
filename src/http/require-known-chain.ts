import { type ChainRegistry } from '../chains/registry/registry.ts';
import { FullmatchError } from '../errors.ts';

/**
 * Tells where nothing was found that nothing can be found there. It is asked after the look-up, since a chain that no list
 * knows has its record a moment after its first contract.
 * @throws FullmatchError unsupported_chain where the chain has no record
 */
export function requireKnownChain({ chains }: ChainRegistry, chainId: number): void {
  if (chains.some(({ record }) => record.chainId === chainId)) return;
  throw new FullmatchError(
    'unsupported_chain',
    `No chain ${chainId} is known here; /chains lists those that are.`,
    { details: { chainId } },
  );
}
