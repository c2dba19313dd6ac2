import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type RpcClient } from '../rpc/rpc-client.ts';
import { SharedLooks } from '../rpc/shared-looks.ts';
import { type ContractLog, type LogQuery, readLogs } from './read-logs.ts';

/** Events of contracts, for those who serve requests. */
export interface LogLookup {
  /**
   * The first events of a contract that fit; a reading of some seconds ago may be answered again.
   * @throws FullmatchError unsupported_chain; queue_full where the client has asked for as many as it may, or too many are
   * read; what reading throws
   */
  find(chainId: number, query: LogQuery, client: string): Promise<readonly ContractLog[]>;
}

interface LookupParts {
  readonly rpc: Pick<RpcClient, 'askAny'>;
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  readonly findCreationBlock: (
    chain: RegisteredChain,
    address: Hex,
    signal: AbortSignal,
  ) => Promise<number | undefined>;
}

/** Readings at once: each takes up to two dozen requests to endpoints. */
const LIMITS = {
  places: { places: 4, placesOfNetwork: 2, waiting: 32, waitingOfNetwork: 8, waitMs: 10_000 },
  ...{ perMinute: 120, keptMs: 5_000, failureKeptMs: 5_000, mostKept: 200 },
};
const DEADLINE_MS = 15_000;

/** Bounds what anybody's requests cost of the endpoints. */
export function createLogLookup(parts: LookupParts): LogLookup {
  const { rpc, findSupportedChain, findCreationBlock } = parts;
  const looks = new SharedLooks<readonly ContractLog[]>(LIMITS);
  return {
    find: async (chainId, query, client) => {
      const chain = findSupportedChain(chainId);
      if (chain === undefined) {
        throw new FullmatchError(
          'unsupported_chain',
          `Events of chain ${chainId} are not read here.`,
          { details: { chainId } },
        );
      }
      const key = JSON.stringify([chainId, query]);
      return looks.ask(key, client, () => {
        const signal = AbortSignal.timeout(DEADLINE_MS);
        const find = () => findCreationBlock(chain, query.address, signal);
        return readLogs(rpc, chain, query, find, signal);
      });
    },
  };
}
