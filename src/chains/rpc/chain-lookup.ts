import { FullmatchError } from '../../errors.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type LookLimits, SharedLooks } from './shared-looks.ts';

/**
 * Reads something of a chain for those who serve requests, within bounds; a reading of some seconds ago may be answered
 * again.
 * @throws FullmatchError unsupported_chain; queue_full where the client has asked for as many readings as it may, or too many
 * are under way; what the reading throws
 */
export type ChainLookup<Query, Found> = (
  chainId: number,
  query: Query,
  client: string,
) => Promise<Found>;

interface LookupParts<Query, Found> {
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  /** The signal ends the reading at its deadline. */
  readonly read: (chain: RegisteredChain, query: Query, signal: AbortSignal) => Promise<Found>;
  readonly deadlineMs: number;
}

/** Few at once: each takes up to some hundred requests to endpoints. */
const LIMITS: LookLimits = {
  places: { places: 4, placesOfNetwork: 2, waiting: 32, waitingOfNetwork: 8, waitMs: 10_000 },
  ...{ perMinute: 120, keptMs: 5_000, failureKeptMs: 5_000, mostKept: 200 },
};

/** Bounds what anybody's requests cost of the endpoints of chains. */
export function createChainLookup<Query, Found>(
  parts: LookupParts<Query, Found>,
): ChainLookup<Query, Found> {
  const looks = new SharedLooks<Found>(LIMITS);
  return async (chainId, query, client) => {
    const chain = parts.findSupportedChain(chainId);
    if (chain === undefined) {
      throw new FullmatchError('unsupported_chain', `Chain ${chainId} is not read here.`, {
        details: { chainId },
      });
    }
    return looks.ask(JSON.stringify([chainId, query]), client, () =>
      parts.read(chain, query, AbortSignal.timeout(parts.deadlineMs)),
    );
  };
}
