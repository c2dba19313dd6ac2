import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { readBlock } from '../rpc/code-reading.ts';
import { contractCreatedBy, readProxyDeployment } from '../rpc/contract-address.ts';
import { type CreationRefusal } from '../rpc/creation.ts';
import { lacksMethod, traceCreation } from '../rpc/creation-trace.ts';
import { ANSWER_MAX_BYTES } from '../rpc/rpc-answer.ts';
import { type RpcRequest } from '../rpc/rpc-client.ts';
import {
  blockHead,
  listOfValid,
  receipt,
  type Receipt,
  toQuantity,
  transaction,
  type Transaction,
} from '../rpc/rpc-shapes.ts';
import { findBlockCreations, readBlockTraces } from './block-traces.ts';
import { type MethodDependencies } from './method-parts.ts';

/** Response of eth_getBlockByNumber with full transactions. */
export const fullBlock = blockHead.extend({ transactions: listOfValid(transaction) });
/** Response of eth_getBlockReceipts. */
export const blockReceipts = listOfValid(receipt);

/**
 * Calls with more input are not tried as calls of a deployment proxy, because hashing is slow. A named
 * transaction may be larger.
 */
const PROXIED_MAX_BYTES = 100_000;
/** Bytes hashed before yielding to the event loop. */
const HASHED_AT_ONCE_BYTES = 100_000;

/** Maximum transactions traced individually. */
const MAX_TRACED_TRANSACTIONS = 60;

type BlockOutcome =
  'found' | 'not_in_block' | 'traces_unavailable' | 'reorganised' | CreationRefusal;

interface Block {
  readonly number: number;
  readonly hash: Hex;
  readonly transactions: readonly Transaction[];
}

/**
 * Searches one block for the transaction that created the code, cheap requests first: receipts of
 * transactions that create a contract, calls of deployment proxies, traces of the block, individual traces.
 * If several match, the last one created it.
 */
export async function searchBlock(
  parts: MethodDependencies,
  endpoint: Endpoint,
  number: number,
): Promise<BlockOutcome> {
  const block = await readFullBlock(parts, endpoint, number);
  if (block === undefined) return 'reorganised';
  let refusal: CreationRefusal | undefined;
  const proposeLast = async (hashes: readonly Hex[]): Promise<boolean> => {
    for (const hash of hashes.toReversed()) {
      const verdict = await parts.propose(hash);
      if (verdict === 'found') return true;
      refusal = verdict;
    }
    return false;
  };
  if (await proposeLast(await findByReceipts(parts, endpoint, block))) return 'found';
  if (await proposeLast(await findProxied(parts, block))) return 'found';
  const traced = await findByTraces(parts, endpoint, block);
  if (traced !== undefined && (await proposeLast(traced))) return 'found';
  const { rpc, chain, address, signal } = parts;
  const now = await readBlock({ rpc, chain, address, options: { signal } }, endpoint, number);
  if (now?.hash !== block.hash) return 'reorganised';
  return refusal ?? (traced === undefined ? 'traces_unavailable' : 'not_in_block');
}

async function readFullBlock(
  { rpc, chain, signal }: MethodDependencies,
  endpoint: Endpoint,
  number: number,
): Promise<Block | undefined> {
  const request = {
    method: 'eth_getBlockByNumber',
    params: [toQuantity(number), true],
    result: fullBlock.nullable(),
    maxBytes: ANSWER_MAX_BYTES,
  };
  return (await rpc.ask(chain, endpoint, request, { signal })) ?? undefined;
}

const creates = ({ to }: Transaction): boolean => (to ?? undefined) === undefined;

/** Transactions that created the address themselves, by their receipts or by their senders and nonces. */
async function findByReceipts(
  parts: MethodDependencies,
  endpoint: Endpoint,
  block: Block,
): Promise<readonly Hex[]> {
  const creators = new Map(block.transactions.filter(creates).map((each) => [each.hash, each]));
  if (creators.size === 0) return [];
  const found = await readReceipts(parts, endpoint, block, [...creators.keys()]);
  return found
    .filter(({ transactionHash, contractAddress, status }) => {
      const sent = creators.get(transactionHash);
      const created = sent ? contractCreatedBy(sent, { contractAddress }) : contractAddress;
      return created === parts.address && status !== 0;
    })
    .map(({ transactionHash }) => transactionHash);
}

async function readReceipts(
  { rpc, chain, signal }: MethodDependencies,
  endpoint: Endpoint,
  block: Block,
  creators: readonly Hex[],
): Promise<readonly Receipt[]> {
  const ask = <T>(request: RpcRequest<T>): Promise<T> =>
    rpc.ask(chain, endpoint, request, { signal });
  // The receipt of a single creation is smaller than those of its block.
  if (creators.length > 1) {
    try {
      const all = await ask({
        method: 'eth_getBlockReceipts',
        params: [toQuantity(block.number)],
        result: blockReceipts.nullable(),
        maxBytes: ANSWER_MAX_BYTES,
      });
      return (all ?? []).filter(({ blockHash }) => blockHash === block.hash);
    } catch (error) {
      if (!lacksMethod(error)) throw error;
    }
  }
  const single: Receipt[] = [];
  for (const hash of creators) {
    const found = await ask({
      method: 'eth_getTransactionReceipt',
      params: [hash],
      result: receipt.nullable(),
      maxBytes: ANSWER_MAX_BYTES,
    });
    if (found !== null) single.push(found);
  }
  return single;
}

/** Calls that match a deployment proxy creating the address; any called contract may be one. */
async function findProxied(
  { address, signal }: MethodDependencies,
  block: Block,
): Promise<readonly Hex[]> {
  const found: Hex[] = [];
  let hashedBytes = 0;
  for (const { to, input, hash } of block.transactions) {
    const called = to ?? undefined;
    if (called === undefined || input.length > PROXIED_MAX_BYTES) continue;
    if (readProxyDeployment(called, input, address) !== undefined) found.push(hash);
    hashedBytes += input.length;
    if (hashedBytes < HASHED_AT_ONCE_BYTES) continue;
    hashedBytes = 0;
    await yieldToOthers(undefined, { signal });
  }
  return found;
}

/** Transactions that created the address in an inner call; undefined if the endpoint provides no traces. */
async function findByTraces(
  parts: MethodDependencies,
  endpoint: Endpoint,
  block: Block,
): Promise<readonly Hex[] | undefined> {
  const hashes = block.transactions.map(({ hash }) => hash);
  const traces = await readBlockTraces(parts, endpoint, block.number);
  if (traces !== undefined) return findBlockCreations(traces, parts.address, hashes);
  const { rpc, chain, address, signal } = parts;
  const found: Hex[] = [];
  for (const transaction of block.transactions.slice(0, MAX_TRACED_TRANSACTIONS)) {
    const transactionHash = transaction.hash;
    const question = { rpc, chain, address, transactionHash, options: { signal } };
    const frame = await traceCreation(question, endpoint, transaction);
    if (frame === 'traces_unavailable') return undefined;
    if (frame !== 'created_nothing_here') found.push(transactionHash);
  }
  return found;
}
