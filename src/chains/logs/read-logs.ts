import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type RpcClient, type RpcRequest } from '../rpc/rpc-client.ts';
import { address, hash, listOf, quantity, toQuantity } from '../rpc/rpc-shapes.ts';

/** Which events of one contract are read. Blocks are inclusive. */
export interface LogQuery {
  readonly address: Hex;
  /** By position; undefined matches any topic. */
  readonly topics: readonly (Hex | undefined)[];
  readonly fromBlock: number;
  /** The newest block where it is left out. */
  readonly toBlock?: number;
}

const logShape = z.object({
  address,
  topics: z.array(hash).max(4),
  data: z.string().regex(/^0x(?:[0-9a-f]{2})*$/i),
  blockNumber: quantity,
  blockHash: hash,
  /** Not all nodes say it. */
  blockTimestamp: quantity.nullish(),
  transactionHash: hash,
  transactionIndex: quantity,
  logIndex: quantity,
});

/** An event that a contract emitted (https://ethereum.github.io/execution-apis, `eth_getLogs`). */
export type ContractLog = z.output<typeof logShape>;

/** What a reading may take of an endpoint. */
const WINDOW_BLOCKS = 10_000;
const WINDOWS_MAX = 20;
const ANSWER_MAX_BYTES = 4_000_000;
/** As many events as the Etherscan protocol answers at most. */
export const LOGS_MAX = 1_000;

const BLOCK_NUMBER: RpcRequest<number> = {
  method: 'eth_blockNumber',
  params: [],
  result: quantity,
};

/**
 * Reads the first {@link LOGS_MAX} events of a contract, in the order of the chain. Endpoints limit the blocks of one
 * request: where one request for all blocks is refused, up to 20 windows of 10,000 blocks are read, from the block in which
 * the contract was created where that is known.
 * @param findCreationBlock called only when the blocks are read in windows
 * @throws FullmatchError invalid_parameter where the events cannot be read within these bounds: fewer blocks may be asked for;
 * rpc_unreachable. The reason of `signal`.
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
  // These are the first events, whatever comes later; that there are none is not known of blocks that were not read.
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
  // An endpoint may send what nobody asked for.
  const fits = (log: ContractLog): boolean =>
    log.address === query.address &&
    log.blockNumber >= from &&
    log.blockNumber <= to &&
    query.topics.every((topic, index) => topic === undefined || log.topics[index] === topic);
  return logs.filter(fits).sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}
