import { FullmatchError } from '../../errors.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type LookupLimits, CachedLookup } from './cached-lookup.ts';

/** Reads chain data for request handlers, within limits. */
export interface ChainLookup<Query, Found> {
  /**
   * The current value, possibly cached for some seconds.
   * @throws FullmatchError unsupported_chain; queue_full if too many reads are in progress; errors of the
   * read
   */
  find(chainId: number, query: Query, client: string): Promise<Found>;
  /** The last value, of any age; undefined if it is no longer cached. */
  newest(chainId: number, query: Query): Found | undefined;
}

/** A lookup that counts its results: {@link ChainLookup.newest} returns the same while this number does. */
export interface CountedLookup<Query, Found> extends ChainLookup<Query, Found> {
  readonly findings: number;
}

interface LookupParts<Query, Found> {
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  readonly read: (chain: RegisteredChain, query: Query) => Promise<Found>;
  readonly limits: LookupLimits;
  readonly now?: () => number;
}

/** Bounds the requests to chain endpoints that clients can cause, see {@link CachedLookup}. */
export function createChainLookup<Query, Found>(
  parts: LookupParts<Query, Found>,
): CountedLookup<Query, Found> {
  const { findSupportedChain, read, limits, now } = parts;
  const lookups = new CachedLookup<Found>(limits, now);
  let findings = 0;
  const keyOf = (chainId: number, query: Query): string => JSON.stringify([chainId, query]);
  return {
    find: async (chainId, query, client) => {
      const chain = findSupportedChain(chainId);
      if (chain === undefined) {
        throw new FullmatchError(
          'unsupported_chain',
          `Contracts of chain ${chainId} are not read here.`,
          { details: { chainId } },
        );
      }
      return lookups.ask(keyOf(chainId, query), client, async () => {
        const found = await read(chain, query);
        findings += 1;
        return found;
      });
    },
    newest: (chainId, query) => lookups.newest(keyOf(chainId, query)),
    get findings() {
      return findings;
    },
  };
}
