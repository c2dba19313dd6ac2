/**
 * A node with a generated chain, in a separate process: any block is generated on request, so a chain may
 * have any length. Blocks up to `plainBlocks` contain only calls; each later one has {@link CREATIONS}
 * creations, the equivalent of 200 per minute with blocks of 12 seconds: {@link CLONES} of them are created
 * by a factory from known bytecode, with individual values.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Hex } from '../src/lib/hex.ts';

/** Creations per block, and the number of clones among them: 95 percent. */
export const CREATIONS = 40;
export const CLONES = 38;
/** Transactions per block that create nothing. */
export const CALLS = 150;
/** The block of the contract that is verified in advance, and its address. */
const SEED_BLOCK = 1;
export const SEED_ADDRESS = `0x${'5e'.repeat(20)}` satisfies Hex;

/** Parameters of the chain. Bytecode is hex without 0x. */
export interface ChainRule {
  readonly chainId: number;
  readonly plainBlocks: number;
  readonly creationCode: string;
  readonly runtimeCode: string;
  /** Byte offset of a deployment's value in the runtime bytecode. */
  readonly valueStarts: readonly number[];
}

/** A running node. */
export interface ReplayedChain {
  readonly url: string;
  /** Extends the chain up to this block number. */
  readonly setHead: (number: number) => void;
  readonly stop: () => void;
}

/** Starts a node. Its head is {@link SEED_BLOCK} at first. */
export async function startReplayedChain(rule: ChainRule): Promise<ReplayedChain> {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: ['--import', 'tsx'] });
  child.send({ rule });
  const [port] = (await once(child, 'message')) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    setHead: (head) => child.send({ head }),
    stop: () => child.kill(),
  };
}

/** The address of a block's creation. */
export function replayedAddress(block: number, index: number): Hex {
  return `0xcc${block.toString(16).padStart(12, '0')}${index.toString(16).padStart(26, '0')}`;
}

const FACTORY = `0x${'fa'.repeat(20)}`;
const SENDER = `0x${'5d'.repeat(20)}`;
const BLOCK_SECONDS = 12;
const quantity = (value: number): string => `0x${value.toString(16)}`;
const blockHash = (block: number): string => `0xbb${block.toString(16).padStart(62, '0')}`;
const transactionHash = (block: number, index: number): string =>
  `0xaa${block.toString(16).padStart(14, '0')}${index.toString(16).padStart(48, '0')}`;

/** One creation of a block; the first ones are the clones, each by a call of the factory. */
interface Creation {
  readonly address: Hex;
  readonly isClone: boolean;
  readonly creationCode: string;
  readonly runtimeCode: string;
}

/** Returns the node's response to a request. */
function answerBy(rule: ChainRule, headOf: () => number) {
  const creationOf = (block: number, index: number): Creation => {
    const address = block === SEED_BLOCK ? SEED_ADDRESS : replayedAddress(block, index);
    const isSeed = address === SEED_ADDRESS;
    if (!isSeed && index >= CLONES) {
      const word = createHash('sha512').update(address).digest('hex');
      const runtimeCode = `60806040${word.repeat(8)}`;
      const creationCode = `6080604052${runtimeCode}`;
      return { address, isClone: false, runtimeCode, creationCode };
    }
    const word = (block * 1000 + index).toString(16).padStart(64, '0');
    const runtimeCode = rule.valueStarts.reduce(
      (code, start) => code.slice(0, 2 * start) + word + code.slice(2 * start + 64),
      rule.runtimeCode,
    );
    return {
      address,
      isClone: !isSeed,
      runtimeCode,
      creationCode: rule.creationCode + word + word,
    };
  };
  const creationsIn = (block: number): number => {
    if (block === SEED_BLOCK) return 1;
    return block > rule.plainBlocks ? CREATIONS : 0;
  };
  const transactionsIn = (block: number): number =>
    block === 0 ? 0 : creationsIn(block) + (block === SEED_BLOCK ? 0 : CALLS);
  const madeBy = (block: number, index: number): Creation | undefined =>
    index < creationsIn(block) ? creationOf(block, index) : undefined;
  const list = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const transaction = (block: number, index: number): unknown => {
    const made = madeBy(block, index);
    const isDirect = made?.isClone === false;
    return {
      ...{ hash: transactionHash(block, index), blockHash: blockHash(block), from: SENDER },
      ...{
        blockNumber: quantity(block),
        transactionIndex: quantity(index),
        nonce: quantity(index),
      },
      ...{
        to: isDirect ? null : FACTORY,
        input: isDirect ? `0x${made.creationCode}` : '0xa9059cbb',
      },
      ...{ value: '0x0', gas: '0x1c9c380', type: '0x2' },
    };
  };
  const receipt = (block: number, index: number): unknown => {
    const made = madeBy(block, index);
    return {
      ...{ transactionHash: transactionHash(block, index), blockHash: blockHash(block) },
      ...{ blockNumber: quantity(block), transactionIndex: quantity(index), from: SENDER },
      ...{ contractAddress: made?.isClone === false ? made.address : null, status: '0x1' },
      ...{ gasUsed: '0x14820', logs: [], logsBloom: `0x${'00'.repeat(256)}` },
    };
  };
  const trace = (block: number, index: number): unknown => {
    const made = madeBy(block, index);
    const call = { from: SENDER, gas: '0x1c9c380', gasUsed: '0x14820', value: '0x0' };
    if (made === undefined) return { ...call, type: 'CALL', to: FACTORY, input: '0xa9059cbb' };
    const creation = {
      ...{ ...call, to: made.address, input: `0x${made.creationCode}` },
      output: `0x${made.runtimeCode}`,
    };
    if (!made.isClone) return { ...creation, type: 'CREATE' };
    const inner = { ...creation, from: FACTORY, type: 'CREATE2' };
    return { ...call, type: 'CALL', to: FACTORY, input: '0xa9059cbb', calls: [inner] };
  };
  const block = (number: number, isFull: boolean): unknown =>
    number > headOf()
      ? null
      : {
          ...{ number: quantity(number), hash: blockHash(number) },
          parentHash: number === 0 ? `0x${'00'.repeat(32)}` : blockHash(number - 1),
          timestamp: quantity(1_700_000_000 + number * BLOCK_SECONDS),
          transactions: list(transactionsIn(number), (index) =>
            isFull ? transaction(number, index) : transactionHash(number, index),
          ),
        };
  const numberOf = (tag: unknown): number => {
    if (typeof tag === 'object' && tag !== null) {
      const { blockHash: hash, blockNumber } = tag as { blockHash?: string; blockNumber?: string };
      return hash === undefined ? Number(blockNumber) : Number(`0x${hash.slice(4)}`);
    }
    return typeof tag === 'string' && tag.startsWith('0x') ? Number(tag) : headOf();
  };
  const placeOf = (hash: unknown): [number, number] => {
    const text = String(hash);
    return [Number(`0x${text.slice(4, 18)}`), Number(`0x${text.slice(18)}`)];
  };
  const codeAt = (address: string, number: number): string => {
    const isSeed = address === SEED_ADDRESS;
    if (!isSeed && !address.startsWith('0xcc')) return '0x';
    const made = isSeed ? SEED_BLOCK : Number(`0x${address.slice(4, 16)}`);
    const index = isSeed ? 0 : Number(`0x${address.slice(16)}`);
    return number < made ? '0x' : `0x${creationOf(made, index).runtimeCode}`;
  };
  const methods: Record<string, (...params: unknown[]) => unknown> = {
    eth_chainId: () => quantity(rule.chainId),
    eth_blockNumber: () => quantity(headOf()),
    eth_getBlockByNumber: (tag, isFull) => block(numberOf(tag), isFull === true),
    eth_getBlockByHash: (hash, isFull) =>
      block(Number(`0x${String(hash).slice(4)}`), isFull === true),
    eth_getBlockReceipts: (tag) => {
      const number = numberOf(tag);
      return list(transactionsIn(number), (index) => receipt(number, index));
    },
    debug_traceBlockByNumber: (tag) => {
      const number = numberOf(tag);
      return list(transactionsIn(number), (index) => ({
        ...{ txHash: transactionHash(number, index), result: trace(number, index) },
      }));
    },
    debug_traceTransaction: (hash) => trace(...placeOf(hash)),
    eth_getTransactionByHash: (hash) => transaction(...placeOf(hash)),
    eth_getTransactionReceipt: (hash) => receipt(...placeOf(hash)),
    eth_getCode: (address, tag) => codeAt(String(address), numberOf(tag)),
  };
  return (method: string, params: readonly unknown[]): object => {
    const answer = methods[method];
    if (answer !== undefined) return { result: answer(...params) };
    return { error: { code: -32601, message: `the method ${method} does not exist` } };
  };
}

interface Question {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Order {
  readonly rule?: ChainRule;
  readonly head?: number;
}

if (process.send !== undefined) {
  let head = SEED_BLOCK;
  process.on('message', (order: Order) => {
    head = order.head ?? head;
    if (order.rule === undefined) return;
    const answer = answerBy(order.rule, () => head);
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const { id, method, params } = JSON.parse(body) as Question;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
      });
    });
    server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  });
}
