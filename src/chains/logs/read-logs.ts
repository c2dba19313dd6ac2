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

/** Limits of reading from an endpoint. */
const WINDOW_BLOCKS = 10_000;
const WINDOWS_MAX = 20;
const ANSWER_MAX_BYTES = 4_000_000;
/** Maximum number of events in a response of the Etherscan API. */
export const LOGS_MAX = 1_000;

const BLOCK_NUMBER: RpcRequest<number> = {
  method: 'eth_blockNumber',
  params: [],
  result: quantity,
};

/**
 * Reads the first {@link LOGS_MAX} events of a contract, in chain order. Endpoints limit the blocks of a
 * request: if one request for all blocks is refused, up to 20 windows of 10,000 blocks are read, starting at
 * the block in which the contract was created if that is known.
 * @param findCreationBlock called only if the blocks are read in windows
 * @throws FullmatchError invalid_parameter if the events cannot be read within these limits, and fewer blocks
 * may be requested; rpc_unreachable. The reason of `signal`.
 */
export async function readLogs(
  rpc: Pick<RpcClient, 'askAny'>,
  chain: RegisteredChain,
  query: LogQuery,
  findCreationBlock: () => Promise<number | undefined>,
  signal: AbortSignal,
): Promise<readonly ContractLog[]> {
  const { value: head } = await rpc.askAny(chain, BLOCK_NUMBER, { signal });
  const toBlock = Math.min(query.toBlock ?? head, head);
  const read = (from: number, to: number): Promise<readonly ContractLog[]> =>
    readWindow(rpc, chain, query, { from, to }, signal);
  if (query.fromBlock > toBlock) return [];
  const isOneWindow = toBlock - query.fromBlock < WINDOW_BLOCKS;
  try {
    return (await read(query.fromBlock, toBlock)).slice(0, LOGS_MAX);
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
  // These are the first events, whatever follows. An empty result is not proven for blocks that were not
  // read.
  if (logs.length > 0 || from > toBlock) return logs.slice(0, LOGS_MAX);
  throw new FullmatchError(
    'invalid_parameter',
    `The endpoints of chain ${chain.record.chainId} do not answer for that many blocks: request at most ${WINDOW_BLOCKS * WINDOWS_MAX} by fromBlock and toBlock.`,
    { details: { parameter: 'fromBlock' } },
  );
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
