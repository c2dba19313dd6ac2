import { type z } from 'zod';
import {
  readBlockTraces,
  readTransactionTrace,
  readTransactionTraces,
  type TransactionTrace,
} from '../../chains/creation/block-traces.ts';
import { blockReceipts, fullBlock } from '../../chains/creation/search-block.ts';
import { type Endpoint, type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type BlockTag, readCodeAt } from '../../chains/rpc/code-reading.ts';
import { contractCreatedBy } from '../../chains/rpc/contract-address.ts';
import { lacksMethod } from '../../chains/rpc/creation-trace.ts';
import { ANSWER_MAX_BYTES } from '../../chains/rpc/rpc-answer.ts';
import { type RpcClient, type RpcRequest } from '../../chains/rpc/rpc-client.ts';
import { invalidAnswer, reasonOf } from '../../chains/rpc/rpc-faults.ts';
import {
  blockHead,
  hash,
  listOf,
  receipt,
  toQuantity,
  type Transaction,
} from '../../chains/rpc/rpc-shapes.ts';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type BlockCreations, type FoundCreation } from '../found-creation.ts';
import {
  findBlockContracts,
  type BlockCreationCandidate,
  hashCode,
  mayHaveInternalCreations,
  type TransactionFacts,
} from './block-creations.ts';
import { type EndpointStates } from './endpoint-states.ts';
import { FollowFault } from './follow-fault.ts';

/** Response of eth_getBlockByNumber with transaction hashes. */
const blockHeader = blockHead.extend({ parentHash: hash, transactions: listOf(hash) });
export type BlockHeader = z.output<typeof blockHeader>;

type BlockReceipt = z.output<typeof blockReceipts>[number];

/** Most items of one block (receipts, bytecode) that are read one by one. */
const SINGLE_MAX = 500;

/** An endpoint to read from, with its known state. */
export interface BlockSource {
  readonly rpc: RpcClient;
  readonly chain: RegisteredChain;
  readonly endpoint: Endpoint;
  readonly book: EndpointStates;
  readonly signal: AbortSignal;
  readonly askMs: number;
}

function ask<T>(question: BlockSource, request: RpcRequest<T>): Promise<T> {
  const { rpc, chain, endpoint, signal, askMs } = question;
  const maxBytes = ANSWER_MAX_BYTES;
  return rpc.ask(chain, endpoint, { maxBytes, ...request }, { signal, deadlineMs: askMs });
}

/** Reads the header of a block with its transaction hashes; null if the endpoint does not have the block. */
export async function readHeader(
  question: BlockSource,
  tag: BlockTag,
): Promise<BlockHeader | null> {
  const header = await ask(question, {
    method: 'eth_getBlockByNumber',
    params: [typeof tag === 'number' ? toQuantity(tag) : tag, false],
    result: blockHeader.nullable(),
  });
  if (typeof tag === 'number' && header !== null && header.number !== tag) {
    throw wrongAnswer(question, 'eth_getBlockByNumber', 'another block than asked for');
  }
  return header;
}

/**
 * Reads the header of a block that must exist.
 * @throws FollowFault for the endpoint if it does not.
 */
export async function requireHeader(question: BlockSource, tag: BlockTag): Promise<BlockHeader> {
  const header = await readHeader(question, tag);
  if (header !== null) return header;
  const { endpoint } = question;
  throw new FollowFault(
    'rpc_unreachable',
    `The endpoint ${endpoint.label} has no block ${String(tag)}.`,
    'block_unknown',
  );
}

function wrongAnswer(
  { chain, endpoint }: BlockSource,
  method: string,
  what: string,
): FullmatchError {
  return invalidAnswer(chain.record.chainId, endpoint, method, what);
}

function replaced({ endpoint }: BlockSource, number: number): FollowFault {
  return new FollowFault(
    'blocks_replaced',
    `The endpoint ${endpoint.label} returned parts of different blocks for number ${number}.`,
  );
}

/**
 * Reads the creations of one block, all from one endpoint and for one block hash.
 * @param known the header, if it was already read
 * @throws FullmatchError as {@link RpcClient.ask}; FollowFault if the endpoint does not have the block or
 * replaced it during the read.
 */
export async function readBlockCreations(
  question: BlockSource,
  number: number,
  wantsTraces: boolean,
  known?: BlockHeader,
): Promise<BlockCreations> {
  const header = known ?? (await requireHeader(question, number));
  const { hash: blockHash, parentHash, timestamp } = header;
  const block = { number, hash: blockHash, parentHash, timestamp };
  const lacksTraces = !wantsTraces || question.book.lacksTraces(question.endpoint);
  // Without tracing, an empty block counts as untraced like its neighbours, so that they form one span.
  if (header.transactions.length === 0) return { ...block, creations: [], isTraced: !lacksTraces };
  const facts = await readFacts(question, header);
  const needsTraces = facts.some((each) => !each.hasFailed && mayHaveInternalCreations(each));
  const traces = wantsTraces && needsTraces ? await readTraces(question, header, facts) : undefined;
  const { found, isTraced } = findBlockContracts(facts, traces);
  const creations = await settleCodes(question, header, found);
  return { ...block, creations, isTraced: isTraced && (traces !== undefined || !lacksTraces) };
}

/** Reads the transactions with their receipts, in the order of the block. */
async function readFacts(
  question: BlockSource,
  header: BlockHeader,
): Promise<readonly TransactionFacts[]> {
  const all = await readBlockReceipts(question, header);
  if (all === undefined) return readFactsOneByOne(question, header);
  const byHash = new Map(all.map((each) => [each.transactionHash, each]));
  const missing = header.transactions.filter((each) => !byHash.has(each));
  for (const each of await readReceipts(question, header, missing)) {
    byHash.set(each.transactionHash, each);
  }
  // The receipts of some nodes do not name the contract: then the transaction itself must be read for its
  // sender.
  const isUnclear = [...byHash.values()].some(
    ({ to, contractAddress, status }) => !to && !contractAddress && status !== 0,
  );
  const sent = isUnclear ? await readTransactions(question, header) : undefined;
  return header.transactions.flatMap((each) => {
    const found = byHash.get(each);
    return found === undefined ? [] : factsOf(found, sent?.get(each));
  });
}

function factsOf(found: BlockReceipt, sent: Transaction | undefined): TransactionFacts {
  const contractAddress = sent ? contractCreatedBy(sent, found) : found.contractAddress;
  const { gasUsed } = found;
  return {
    transactionHash: found.transactionHash,
    sender: found.from,
    hasFailed: found.status === 0,
    ...(typeof contractAddress === 'string' && { contractAddress }),
    ...(typeof gasUsed === 'number' && { gasUsed }),
  };
}

/** Reads all receipts of a block at once; undefined if the endpoint does not support the method. */
async function readBlockReceipts(
  question: BlockSource,
  header: BlockHeader,
): Promise<readonly BlockReceipt[] | undefined> {
  const { book, endpoint } = question;
  const method = 'eth_getBlockReceipts';
  if (book.lacks(endpoint, method)) return undefined;
  const params = [toQuantity(header.number)];
  let all: BlockReceipt[] | null;
  try {
    all = await ask(question, { method, params, result: blockReceipts.nullable() });
  } catch (error) {
    if (!lacksMethod(error)) throw error;
    book.noteRefusal(endpoint, method, error);
    return undefined;
  }
  // A node may have a block before it has its receipts.
  if (all === null) throw wrongAnswer(question, method, 'no receipts of a block that it has');
  if (all.some(({ blockHash }) => blockHash !== header.hash))
    throw replaced(question, header.number);
  book.noteMethod(endpoint, method);
  return all;
}

/** Reads the receipts of transactions that create a contract, from an endpoint without block receipts. */
async function readFactsOneByOne(
  question: BlockSource,
  header: BlockHeader,
): Promise<readonly TransactionFacts[]> {
  const byHash = await readTransactions(question, header);
  const unclear = header.transactions.filter((each) => {
    const transaction = byHash.get(each);
    // A transaction with an unexpected shape may create a contract too.
    return transaction === undefined || (transaction.to ?? undefined) === undefined;
  });
  const receipts = await readReceipts(question, header, unclear);
  const receiptOf = new Map(receipts.map((each) => [each.transactionHash, each]));
  return header.transactions.flatMap((transactionHash) => {
    const found = receiptOf.get(transactionHash);
    if (found !== undefined) return factsOf(found, byHash.get(transactionHash));
    const sender = byHash.get(transactionHash)?.from;
    return sender === undefined ? [] : { transactionHash, sender, hasFailed: false };
  });
}

/** Reads the transactions of a block by their hashes. */
async function readTransactions(
  question: BlockSource,
  header: BlockHeader,
): Promise<ReadonlyMap<Hex, Transaction>> {
  const block = await ask(question, {
    method: 'eth_getBlockByNumber',
    params: [toQuantity(header.number), true],
    result: fullBlock.nullable(),
  });
  if (block?.hash !== header.hash) throw replaced(question, header.number);
  return new Map(block.transactions.map((each) => [each.hash, each]));
}

async function readReceipts(
  question: BlockSource,
  header: BlockHeader,
  hashes: readonly Hex[],
): Promise<readonly BlockReceipt[]> {
  const method = 'eth_getTransactionReceipt';
  if (hashes.length > SINGLE_MAX) {
    throw wrongAnswer(question, 'eth_getBlockReceipts', `${hashes.length} receipts missing`);
  }
  const found: BlockReceipt[] = [];
  for (const each of hashes) {
    const one = await ask(question, { method, params: [each], result: receipt.nullable() });
    if (one === null) throw wrongAnswer(question, method, 'no receipt of a transaction of a block');
    if (one.transactionHash !== each) throw wrongAnswer(question, method, 'another receipt');
    if (one.blockHash !== header.hash) throw replaced(question, header.number);
    found.push(one);
  }
  return found;
}

/** Reads the traces of a block and checks that they belong to its transactions; undefined if the endpoint has none. */
async function readTraces(
  question: BlockSource,
  header: BlockHeader,
  facts: readonly TransactionFacts[],
): Promise<readonly TransactionTrace[] | undefined> {
  const { rpc, chain, endpoint, book, signal } = question;
  let isTooLarge = false;
  const traces = await readBlockTraces({ rpc, chain, signal }, endpoint, header.number, {
    lacks: (method) => book.lacks(endpoint, method),
    onRefusal: (method, error) => {
      book.noteRefusal(endpoint, method, error);
      isTooLarge ||= reasonOf(error) === 'answer_too_large';
    },
  });
  if (traces === undefined) return isTooLarge ? readTracesOneByOne(question, facts) : undefined;
  book.noteMethod(endpoint, traces.format === 'flat' ? 'trace_block' : 'debug_traceBlockByNumber');
  if (traces.format === 'flat') {
    const others = traces.frames.some((each) => (each.blockHash ?? header.hash) !== header.hash);
    if (others) throw replaced(question, header.number);
  }
  const own = new Set(header.transactions);
  const read = readTransactionTraces(traces, header.transactions);
  if (read.some(({ transactionHash }) => !own.has(transactionHash))) {
    throw replaced(question, header.number);
  }
  const namesBlock = traces.format === 'flat' && traces.frames.every(({ blockHash }) => blockHash);
  if (!namesBlock) {
    // This format does not identify the block, so its hash must be the same before and after the request.
    const now = await readHeader(question, header.number);
    if (now?.hash !== header.hash) throw replaced(question, header.number);
  }
  return read;
}

/**
 * Reads the traces of a block that is too large to be traced at once, for each transaction that may create
 * contracts.
 */
async function readTracesOneByOne(
  { rpc, chain, endpoint, signal }: BlockSource,
  facts: readonly TransactionFacts[],
): Promise<readonly TransactionTrace[] | undefined> {
  const unclear = facts.filter((each) => !each.hasFailed && mayHaveInternalCreations(each));
  if (unclear.length > SINGLE_MAX) return undefined;
  const read: TransactionTrace[] = [];
  for (const { transactionHash } of unclear) {
    const trace = await readTransactionTrace({ rpc, chain, signal }, endpoint, transactionHash);
    if (trace !== undefined) read.push(trace);
  }
  return read;
}

/** Returns the creations that left bytecode; if no trace shows the bytecode, the state after the block decides. */
async function settleCodes(
  question: BlockSource,
  header: BlockHeader,
  found: readonly BlockCreationCandidate[],
): Promise<readonly FoundCreation[]> {
  const settled: FoundCreation[] = [];
  let asked = 0;
  for (const { isOpen, ...creation } of found) {
    if (!isOpen || asked === SINGLE_MAX) {
      settled.push(creation);
      continue;
    }
    asked += 1;
    const code = await readCode(question, header, creation.address);
    if (code === undefined) settled.push(creation);
    else {
      const codeHash = hashCode(code);
      if (codeHash !== undefined) settled.push({ ...creation, codeHash });
    }
  }
  return settled;
}

/**
 * Reads the bytecode at the end of the block; undefined if the endpoint cannot provide it, which says nothing
 * about the contract.
 */
async function readCode(
  question: BlockSource,
  header: BlockHeader,
  address: Hex,
): Promise<Buffer | undefined> {
  const { rpc, chain, endpoint, signal, askMs } = question;
  const code = { rpc, chain, address, options: { signal, deadlineMs: askMs } };
  try {
    return await readCodeAt(code, endpoint, header);
  } catch (error) {
    if (reasonOf(error) === 'reorganised') throw replaced(question, header.number);
    const isUnknown = error instanceof FullmatchError && error.code === 'code_too_large';
    if (isUnknown || lacksMethod(error)) return undefined;
    throw error;
  }
}
