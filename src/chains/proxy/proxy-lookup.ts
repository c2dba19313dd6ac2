import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type CountedLookup, createChainLookup } from '../rpc/chain-lookup.ts';
import { type ReadCodeOptions } from '../rpc/deployed-code.ts';
import { type ProxyReading } from './read-proxy.ts';

/** Detects proxies for request handlers. */
export type ProxyLookup = CountedLookup<Hex, ProxyReading>;

/** Dependencies of a lookup. */
interface LookupParts {
  readonly readProxy: (
    chain: RegisteredChain,
    address: Hex,
    options: ReadCodeOptions,
  ) => Promise<ProxyReading>;
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  readonly quorumOf: (chainId: number) => 1 | 2 | undefined;
  readonly now?: () => number;
}

/** Concurrent reads: each takes up to a dozen requests to endpoints. An upgrade becomes visible after `keptMs`. */
const LIMITS = {
  atOnce: { total: 8, perClient: 4, waiting: 64, waitingPerClient: 16, waitMs: 10_000 },
  ...{ keptMs: 30_000, failureKeptMs: 5_000, mostKept: 2_000 },
};
const DEADLINE_MS = 10_000;

/** Reads proxies within limits, see {@link CountedLookup}. */
export function createProxyLookup(parts: LookupParts): ProxyLookup {
  const { readProxy, quorumOf, findSupportedChain, now } = parts;
  return createChainLookup({
    ...{ findSupportedChain, limits: LIMITS },
    ...(now && { now }),
    read: (chain, address: Hex) => {
      const quorum = quorumOf(chain.record.chainId);
      const options = { deadlineMs: DEADLINE_MS, ...(quorum !== undefined && { quorum }) };
      return readProxy(chain, address, options);
    },
  });
}
