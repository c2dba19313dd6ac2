import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type RpcClient, type RpcRequest } from '../rpc/rpc-client.ts';
import { address, hash, listOf, quantity, toQuantity } from '../rpc/rpc-shapes.ts';

/** Events of one contract to read. Blocks are inclusive. */
export interface LogQuery {
  readonly address: Hex;
  /** By position; undefined matches any topic. */
  readonly topics: readonly (Hex | undefined)[];
  readonly fromBlock: number;
  /** The newest block by default. */
  readonly toBlock?: number;
}

const logShape = z.object({
  address,
  topics: z.array(hash).max(4),
  data: z.string().regex(/^0x(?:[0-9a-f]{2})*$/i),
  blockNumber: quantity,
  blockHash: hash,
  /** Not all nodes provide it. */
  blockTimestamp: quantity.nullish(),
  transactionHash: hash,
  transactionIndex: quantity,
  logIndex: quantity,
});

/** An event emitted by a contract (https://ethereum.github.io/execution-apis, `eth_getLogs`). */
export type ContractLog = z.output<typeof logShape>;

/** The first events of a contract. */
export interface FoundLogs {
  /** In chain order. */
  readonly logs: readonly ContractLog[];
  /** The last block of which all events were read. */
  readonly lastBlock: number;
  /** Whether these are all events up to the end of the range. */
  readonly isComplete: boolean;
}

/** Limits of reading from an endpoint. */
const WINDOW_BLOCKS = 10_000;
const WINDOWS_MAX = 20;
/** Blocks whose events are read whatever the endpoints allow. */
export const LOG_BLOCKS = WINDOW_BLOCKS * WINDOWS_MAX;
const ANSWER_MAX_BYTES = 4_000_000;
/** Maximum number of events in a response of the Etherscan API. */
export const LOGS_MAX = 1_000;

const BLOCK_NUMBER: RpcRequest<number> = {
  method: 'eth_blockNumber',
  params: [],
  result: quantity,
};

/**
 * Reads the first {@link LOGS_MAX} events of a contract. Endpoints limit the blocks of a request: if one request
 * for all blocks is refused, up to 20 windows of 10,000 blocks are read, starting at the block in which the
 * contract was created if that is known.
 * @param findCreationBlock called only if the blocks are read in windows
 * @throws FullmatchError rpc_unreachable. The reason of `signal`.
 */
export async function readLogs(
  rpc: Pick<RpcClient, 'askAny'>,
  chain: RegisteredChain,
  query: LogQuery,
  findCreationBlock: () => Promise<number | undefined>,
  signal: AbortSignal,
): Promise<FoundLogs> {
  const { value: head } = await rpc.askAny(chain, BLOCK_NUMBER, { signal });
  const toBlock = Math.min(query.toBlock ?? head, head);
  const read = (from: number, to: number): Promise<readonly ContractLog[]> =>
    readWindow(rpc, chain, query, { from, to }, signal);
  if (query.fromBlock > toBlock) return { logs: [], lastBlock: toBlock, isComplete: true };
  const isOneWindow = toBlock - query.fromBlock < WINDOW_BLOCKS;
  try {
    return firstOf(await read(query.fromBlock, toBlock), toBlock, true);
  } catch (error) {
    signal.throwIfAborted();
    if (isOneWindow || !(error instanceof FullmatchError)) throw error;
  }
  const created = await findCreationBlock();
  const logs: ContractLog[] = [];
  let from = Math.max(query.fromBlock, created ?? 0);
  for (let window = 0; window < WINDOWS_MAX && from <= toBlock; window += 1) {
    const to = Math.min(from + WINDOW_BLOCKS - 1, toBlock);
    logs.push(...(await read(from, to)));
    from = to + 1;
    if (logs.length >= LOGS_MAX) break;
  }
  return firstOf(logs, from - 1, from > toBlock);
}

/** Cuts events to the maximum; the block of the first one left out counts as not read. */
function firstOf(logs: readonly ContractLog[], lastBlock: number, isComplete: boolean): FoundLogs {
  const next = logs[LOGS_MAX];
  if (next === undefined) return { logs, lastBlock, isComplete };
  return { logs: logs.slice(0, LOGS_MAX), lastBlock: next.blockNumber - 1, isComplete: false };
}

async function readWindow(
  rpc: Pick<RpcClient, 'askAny'>,
  chain: RegisteredChain,
  query: LogQuery,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<readonly ContractLog[]> {
  const topics = query.topics.map((topic) => topic ?? null);
  const filter = { address: query.address, topics };
  const { value: logs } = await rpc.askAny(
    chain,
    {
      method: 'eth_getLogs',
      params: [{ ...filter, fromBlock: toQuantity(from), toBlock: toQuantity(to) }],
      result: listOf(logShape),
      maxBytes: ANSWER_MAX_BYTES,
    },
    { signal },
  );
  // An endpoint may return events that were not requested.
  const fits = (log: ContractLog): boolean =>
    log.address === query.address &&
    log.blockNumber >= from &&
    log.blockNumber <= to &&
    query.topics.every((topic, index) => topic === undefined || log.topics[index] === topic);
  return logs.filter(fits).sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}
