import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { SharedLooks } from '../rpc/shared-looks.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type ReadCodeOptions } from '../rpc/deployed-code.ts';
import { type ProxyReading } from './read-proxy.ts';

/** Whether contracts are proxies, for those who serve requests. */
export interface ProxyLookup {
  /**
   * What a contract is; a reading of some seconds ago may be answered again.
   * @throws FullmatchError unsupported_chain; queue_full where its network has asked for as many as it may, or too many are
   * read; what reading throws
   */
  find(chainId: number, address: Hex, client: string): Promise<ProxyReading>;
  /** What it was when it was read last, however long ago; undefined where that is not known any more. */
  newest(chainId: number, address: Hex): ProxyReading | undefined;
}

/** What a look-up asks with. */
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

/** Contracts that are read at once: each takes up to a dozen requests to endpoints. An upgrade shows after `keptMs`. */
const LIMITS = {
  places: { places: 8, placesOfNetwork: 4, waiting: 64, waitingOfNetwork: 16, waitMs: 10_000 },
  ...{ perMinute: 120, keptMs: 30_000, failureKeptMs: 5_000, mostKept: 2_000 },
};
const DEADLINE_MS = 10_000;

/** Bounds what anybody's questions cost of the endpoints, see {@link SharedLooks}. */
export function createProxyLookup(parts: LookupParts): ProxyLookup {
  const { readProxy, findSupportedChain, quorumOf, now } = parts;
  const looks = new SharedLooks<ProxyReading>(LIMITS, now);
  return {
    find: async (chainId, address, client) => {
      const chain = findSupportedChain(chainId);
      if (chain === undefined) {
        throw new FullmatchError(
          'unsupported_chain',
          `Contracts of chain ${chainId} are not read here.`,
          { details: { chainId } },
        );
      }
      const quorum = quorumOf(chainId);
      const options = { deadlineMs: DEADLINE_MS, ...(quorum !== undefined && { quorum }) };
      return looks.ask(`${chainId} ${address}`, client, () => readProxy(chain, address, options));
    },
    newest: (chainId, address) => looks.newest(`${chainId} ${address}`),
  };
}
