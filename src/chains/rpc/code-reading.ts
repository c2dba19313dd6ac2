import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { CODE_MAX_BYTES } from '../../lib/code-max-bytes.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain } from './rpc-chain.ts';
import { type AskOptions, type RpcClient } from './rpc-client.ts';
import { reasonOf } from './rpc-faults.ts';
import { blockHead, type BlockHead, data, toQuantity } from './rpc-shapes.ts';

/** A block tag for RPC calls. An endpoint may not support `safe` and `finalized`. */
export type BlockTag = 'latest' | 'safe' | 'finalized' | number;

/** Maximum response size: the largest bytecode in hex, and its envelope. */
const CODE_ANSWER_MAX_BYTES = 2 * CODE_MAX_BYTES + 1024;

/** The contract to read, and the client to read it with. */
export interface CodeTarget {
  readonly rpc: RpcClient;
  readonly chain: RpcChain;
  readonly address: Hex;
  readonly options: AskOptions;
}

/** An endpoint and its response for a block. */
export interface Sighting {
  readonly endpoint: Endpoint;
  readonly head: BlockHead;
}

function numberParam(tag: BlockTag): string {
  return typeof tag === 'number' ? toQuantity(tag) : tag;
}

/** The block of an endpoint for a tag; null if it has none. */
export function readBlock(
  { rpc, chain, options }: CodeTarget,
  endpoint: Endpoint,
  tag: BlockTag,
): Promise<BlockHead | null> {
  return rpc.ask(
    chain,
    endpoint,
    {
      method: 'eth_getBlockByNumber',
      params: [numberParam(tag), false],
      result: blockHead.nullable(),
    },
    options,
  );
}

/** Whether two heads agree in every field. A hash proves the rest only to a reader of the whole block. */
export function isSameBlock(one: BlockHead, other: BlockHead): boolean {
  return (
    one.hash === other.hash && one.number === other.number && one.timestamp === other.timestamp
  );
}

/** Whether an endpoint knows a block, with a few retries: nodes receive a new block at different times. */
export async function knowsBlock(
  { rpc, chain, options }: CodeTarget,
  endpoint: Endpoint,
  head: BlockHead,
): Promise<boolean> {
  const attempts = 3;
  for (let attempt = 1; ; attempt += 1) {
    const block = await rpc.ask(
      chain,
      endpoint,
      { method: 'eth_getBlockByHash', params: [head.hash, false], result: blockHead.nullable() },
      options,
    );
    if (block !== null) return isSameBlock(block, head);
    if (attempt === attempts) return false;
    const { signal } = options;
    await wait(300 * attempt, undefined, signal === undefined ? {} : { signal });
  }
}

/**
 * The code at an address by block tag, number or hash (EIP-1898).
 * @throws FullmatchError as {@link RpcClient.ask}; code_too_large for more than {@link CODE_MAX_BYTES}
 */
async function readCode(
  { rpc, chain, address, options }: CodeTarget,
  endpoint: Endpoint,
  at: StateAt,
): Promise<Buffer> {
  const request = {
    method: 'eth_getCode',
    params: [address, at],
    result: data,
    maxBytes: CODE_ANSWER_MAX_BYTES,
  };
  let code: Buffer | undefined;
  try {
    code = await rpc.ask(chain, endpoint, request, options);
  } catch (error) {
    if (reasonOf(error) !== 'answer_too_large') throw error;
  }
  if (code !== undefined && code.length <= CODE_MAX_BYTES) return code;
  const { chainId } = chain.record;
  throw new FullmatchError(
    'code_too_large',
    `The code at ${address} on chain ${chainId} has more than ${CODE_MAX_BYTES} bytes, which is too large to read.`,
    { details: { chainId, address, maxBytes: CODE_MAX_BYTES } },
  );
}

/**
 * The code at an address by block tag or number.
 * @throws FullmatchError as {@link readCodeAt}
 */
export function readCodeByNumber(
  question: CodeTarget,
  endpoint: Endpoint,
  tag: BlockTag,
): Promise<Buffer> {
  return readCode(question, endpoint, numberParam(tag));
}

/**
 * The code at an address as of a block.
 * @throws FullmatchError as {@link readStateAt}; code_too_large
 */
export function readCodeAt(
  question: CodeTarget,
  endpoint: Endpoint,
  block: Pick<BlockHead, 'number' | 'hash'>,
): Promise<Buffer> {
  return readStateAt(question, endpoint, block, (at) => readCode(question, endpoint, at));
}

/** A block parameter of calls that read state: a number, tag or hash (EIP-1898). */
export type StateAt = string | { readonly blockHash: Hex };

/**
 * Reads state as of a block. The block is identified by its hash; if a node does not accept one, the state is
 * read by number, and the hash of that number is compared afterwards.
 * @throws FullmatchError as {@link RpcClient.ask}; rpc_refused with reason `reorganised` if the block is gone
 */
export async function readStateAt<T>(
  question: CodeTarget,
  endpoint: Endpoint,
  block: Pick<BlockHead, 'number' | 'hash'>,
  read: (at: StateAt) => Promise<T>,
): Promise<T> {
  const { chain } = question;
  try {
    return await read({ blockHash: block.hash });
  } catch (error) {
    const unknown = error instanceof FullmatchError && error.code === 'rpc_refused';
    if (!unknown) throw error;
  }
  const state = await read(numberParam(block.number));
  const now = await readBlock(question, endpoint, block.number);
  if (now?.hash === block.hash) return state;
  const { chainId } = chain.record;
  throw new FullmatchError(
    'rpc_refused',
    `The endpoint ${endpoint.label} of chain ${chainId} replaced block ${block.number}.`,
    { details: { chainId, endpoint: endpoint.label, reason: 'reorganised' } },
  );
}

/** Whether a node reports that it is still syncing; one that does not support the method counts as synced. */
export async function isSyncing(
  { rpc, chain, options }: CodeTarget,
  endpoint: Endpoint,
): Promise<boolean> {
  try {
    const request = { method: 'eth_syncing', params: [], result: z.unknown() };
    return (await rpc.ask(chain, endpoint, request, options)) !== false;
  } catch (error) {
    if (!(error instanceof FullmatchError) || reasonOf(error) === 'deadline_exceeded') throw error;
    return false;
  }
}
