import { FullmatchError } from '../../errors.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type LookupLimits, CachedLookup } from './cached-lookup.ts';

/** Reads something of chains for those who serve requests, within bounds. */
export interface ChainLookup<Query, Found> {
  /**
   * What the chain says; a reading of some seconds ago may be answered again.
   * @throws FullmatchError unsupported_chain; queue_full where too many readings are under way; what the
   * reading throws
   */
  find(chainId: number, query: Query, client: string): Promise<Found>;
  /** What was read last, however long ago; undefined where that is not known any more. */
  newest(chainId: number, query: Query): Found | undefined;
}

/** A look-up that says how often it found something: {@link ChainLookup.newest} gives the same while this number does. */
export interface CountedLookup<Query, Found> extends ChainLookup<Query, Found> {
  readonly findings: number;
}

interface LookupParts<Query, Found> {
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  readonly read: (chain: RegisteredChain, query: Query) => Promise<Found>;
  readonly limits: LookupLimits;
  readonly now?: () => number;
}

/** Bounds what anybody's requests cost of the endpoints of chains, see {@link CachedLookup}. */
export function createChainLookup<Query, Found>(
  parts: LookupParts<Query, Found>,
): CountedLookup<Query, Found> {
  const { findSupportedChain, read, limits, now } = parts;
  const looks = new CachedLookup<Found>(limits, now);
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
      return looks.ask(keyOf(chainId, query), client, async () => {
        const found = await read(chain, query);
        findings += 1;
        return found;
      });
    },
    newest: (chainId, query) => looks.newest(keyOf(chainId, query)),
    get findings() {
      return findings;
    },
  };
}
