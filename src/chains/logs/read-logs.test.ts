import { describe, expect, test } from 'vitest';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { type RpcClient, type RpcRequest } from '../rpc/rpc-client.ts';
import { LOGS_MAX, readLogs } from './read-logs.ts';

const CHAIN = { record: { chainId: 1 } } as RegisteredChain;
const ADDRESS: Hex = `0x${'a1'.repeat(20)}`;
const TOPIC: Hex = `0x${'b2'.repeat(32)}`;
const HASH = `0x${'c3'.repeat(32)}`;
const hex = (number: number): string => `0x${number.toString(16)}`;

const logAt = (block: number, fields: object = {}): object => ({
  address: ADDRESS,
  topics: [TOPIC],
  data: '0x',
  blockNumber: hex(block),
  blockHash: HASH,
  transactionHash: HASH,
  transactionIndex: '0x0',
  logIndex: '0x0',
  ...fields,
});

/** A node with a head and logs that refuses requests for too many blocks. */
function nodeOf(head: number, logs: readonly object[], blocksAtOnce = Infinity) {
  const asked: (readonly [number, number])[] = [];
  const answer = (request: RpcRequest<unknown>): unknown => {
    if (request.method === 'eth_blockNumber') return hex(head);
    const [filter] = request.params as [{ fromBlock: string; toBlock: string }];
    const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
    asked.push([from, to]);
    if (to - from >= blocksAtOnce) throw new FullmatchError('rpc_unreachable', 'too many blocks');
    return logs;
  };
  const askAny: RpcClient['askAny'] = async (_chain, request) => ({
    value: request.result.parse(answer(request)),
    endpoint: 'node',
  });
  return { asked, rpc: { askAny } };
}
const query = { address: ADDRESS, topics: [TOPIC], fromBlock: 0 };
const never = new AbortController().signal;
const read = (
  node: ReturnType<typeof nodeOf>,
  more: object = {},
  created?: number,
): ReturnType<typeof readLogs> =>
  readLogs(node.rpc, CHAIN, { ...query, ...more }, async () => created, never);

describe('Events of a contract', () => {
  test('are read with one request if the node supports the full range', async () => {
    const node = nodeOf(5_000_000, [logAt(9), logAt(7)]);
    expect((await read(node)).logs.map(({ blockNumber }) => blockNumber)).toEqual([7, 9]);
    expect(node.asked).toEqual([[0, 5_000_000]]);
  });

  test('are read in windows from the creation on if the node rejects the full range', async () => {
    const node = nodeOf(4_015_000, [logAt(4_000_003)], 10_000);
    const { logs, ...rest } = await read(node, {}, 4_000_000);
    expect(logs).toHaveLength(1);
    expect(rest).toEqual({ lastBlock: 4_015_000, isComplete: true });
    expect(node.asked).toEqual([
      [0, 4_015_000],
      [4_000_000, 4_009_999],
      [4_010_000, 4_015_000],
    ]);
  });

  test('are reported as incomplete if not all blocks could be read', async () => {
    const node = nodeOf(5_000_000, [logAt(0), logAt(4_900_000)], 10_000);
    const { logs, ...rest } = await read(node);
    expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([0]);
    expect(rest).toEqual({ lastBlock: 199_999, isComplete: false });
    expect(node.asked).toHaveLength(1 + 20);
    const none = await read(nodeOf(5_000_000, [], 10_000), { fromBlock: 4_900_000 });
    expect(none).toEqual({ logs: [], lastBlock: 5_000_000, isComplete: true });
  });

  test('are filtered and limited, whatever the node returns', async () => {
    const others = [
      logAt(3, { address: `0x${'dd'.repeat(20)}` }),
      logAt(3, { topics: [HASH] }),
      logAt(3, { topics: [] }),
      logAt(99),
    ];
    const fitting = Array.from({ length: LOGS_MAX + 1 }, (_, index) =>
      logAt(4, { logIndex: hex(index) }),
    );
    const { logs, ...rest } = await read(nodeOf(50, [...others, ...fitting]));
    // The block is not read completely.
    expect(rest).toEqual({ lastBlock: 3, isComplete: false });
    expect(logs).toHaveLength(LOGS_MAX);
    expect(logs.at(-1)).toMatchObject({ blockNumber: 4, logIndex: LOGS_MAX - 1 });
  });

  test('of future blocks are empty and need no request', async () => {
    const node = nodeOf(10, [logAt(4)]);
    expect((await read(node, { fromBlock: 11 })).logs).toEqual([]);
    expect(node.asked).toEqual([]);
  });
});
