import { type ChainRegistry } from '../chains/registry/registry.ts';
import { FullmatchError } from '../errors.ts';

/**
 * Reports an unsupported chain when a lookup found nothing. Call it after the lookup, since an unlisted chain
 * gets its record a moment after its first contract.
 * @throws FullmatchError unsupported_chain if the chain has no record
 */
export function requireKnownChain({ chains }: ChainRegistry, chainId: number): void {
  if (chains.some(({ record }) => record.chainId === chainId)) return;
  throw new FullmatchError(
    'unsupported_chain',
    `No chain ${chainId} is known here; /chains lists those that are.`,
    { details: { chainId } },
  );
}
