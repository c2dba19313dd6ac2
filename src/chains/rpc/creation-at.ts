import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { CODE_MAX_BYTES } from '../../lib/code-max-bytes.ts';
import { readBlock, readCodeAt } from './code-reading.ts';
import { contractCreatedBy, readProxyDeployment } from './contract-address.ts';
import {
  type ProofRefusal,
  provePlainCreation,
  proveProxiedCreation,
  proveTracedCreation,
  type RunningCode,
} from './creation-proof.ts';
import { type CreationCheck, traceCreation } from './creation-trace.ts';
import { ANSWER_MAX_BYTES } from './rpc-answer.ts';
import { invalidAnswer } from './rpc-faults.ts';
import { receipt, type Receipt, transaction, type Transaction } from './rpc-shapes.ts';

/** A transaction that created the current contract, according to an endpoint. */
export interface FoundCreation {
  readonly transactionHash: Hex;
  /** The creation bytecode with its constructor arguments. */
  readonly creationCode: Uint8Array;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly transactionIndex: number;
  /**
   * The account that executed CREATE or CREATE2: the sender of the transaction, or a factory; `deployer` in
   * the Verifier Alliance's contract_deployments.
   */
  readonly deployer: Hex;
  /** The account that signed the transaction. */
  readonly sender: Hex;
  /** How the creation was found: in the transaction itself, in a call of a deployment proxy, or in a trace. */
  readonly method: 'transaction' | 'proxy' | 'trace';
  /** Whether a later recreation is impossible, as its proof states. */
  readonly isFinal: boolean;
}

type Refusal =
  | 'created_nothing_here'
  | 'transaction_failed'
  | 'transaction_not_found'
  | 'traces_unavailable'
  | 'code_too_large'
  | ProofRefusal;

/**
 * Determines from one endpoint whether a transaction created the current contract.
 * @param known the runtime bytecode, if known already
 * @throws FullmatchError as {@link RpcClient.ask}
 */
export async function findCreationAt(
  question: CreationCheck,
  endpoint: Endpoint,
  known?: RunningCode,
): Promise<FoundCreation | Refusal> {
  const { address, transactionHash } = question;
  const found = await readTransaction(question, endpoint);
  if (found === undefined) return 'transaction_not_found';
  const [receiptFound, sent] = found;
  if (receiptFound.status === 0) return 'transaction_failed';
  const facts = {
    transactionHash,
    blockNumber: receiptFound.blockNumber,
    blockHash: receiptFound.blockHash,
    transactionIndex: receiptFound.transactionIndex,
    sender: sent.from,
  };
  const running = known ?? (await readRunningCode(question, endpoint));
  const block = { number: facts.blockNumber, hash: facts.blockHash, sender: facts.sender };
  const to = sent.to ?? undefined;
  if (to === undefined && contractCreatedBy(sent, receiptFound) === address) {
    const proof = await provePlainCreation(question, endpoint, running, block);
    if (typeof proof === 'string') return proof;
    return settle({
      ...facts,
      ...proof,
      creationCode: sent.input,
      deployer: sent.from,
      method: 'transaction',
    });
  }
  const proxied = to === undefined ? undefined : readProxyDeployment(to, sent.input, address);
  const frame = await traceCreation(question, endpoint, sent);
  if (typeof frame !== 'string') {
    const { runtimeCode, ...made } = frame;
    const proof = await proveTracedCreation(question, endpoint, running, block, runtimeCode);
    if (typeof proof === 'string') return proof;
    return settle({
      ...facts,
      ...proof,
      ...made,
      method: proxied === undefined ? 'trace' : 'proxy',
    });
  }
  if (frame === 'created_nothing_here' || to === undefined || proxied === undefined) return frame;
  // Nodes of some chains omit the status: then nothing shows that the call succeeded.
  if (receiptFound.status !== 1) return 'not_proven';
  const proof = await proveProxiedCreation(question, endpoint, running, block, {
    proxy: to,
    creationCode: proxied,
  });
  if (typeof proof === 'string') return proof;
  return settle({ ...facts, ...proof, creationCode: proxied, deployer: to, method: 'proxy' });
}

function settle(found: FoundCreation): FoundCreation | 'code_too_large' {
  return found.creationCode.length > CODE_MAX_BYTES ? 'code_too_large' : found;
}

/** The runtime bytecode according to one endpoint. */
async function readRunningCode(question: CreationCheck, endpoint: Endpoint): Promise<RunningCode> {
  const head = await readBlock(question, endpoint, 'latest');
  if (head === null) {
    const { chainId } = question.chain.record;
    throw invalidAnswer(chainId, endpoint, 'eth_getBlockByNumber', 'no block');
  }
  return { code: await readCodeAt(question, endpoint, head), blockNumber: head.number };
}

/** The transaction and its receipt, as one endpoint has them and when they fit together. */
async function readTransaction(
  { rpc, chain, transactionHash, options }: CreationCheck,
  endpoint: Endpoint,
): Promise<readonly [Receipt, Transaction] | undefined> {
  const receiptFound = await rpc.ask(
    chain,
    endpoint,
    {
      method: 'eth_getTransactionReceipt',
      params: [transactionHash],
      result: receipt.nullable(),
      maxBytes: ANSWER_MAX_BYTES,
    },
    options,
  );
  if (receiptFound === null) return undefined;
  const sent = await rpc.ask(
    chain,
    endpoint,
    {
      method: 'eth_getTransactionByHash',
      params: [transactionHash],
      result: transaction.nullable(),
      maxBytes: ANSWER_MAX_BYTES,
    },
    options,
  );
  if (sent === null) return undefined;
  const fits =
    receiptFound.transactionHash === transactionHash &&
    sent.hash === transactionHash &&
    sent.from === receiptFound.from &&
    sent.blockHash === receiptFound.blockHash;
  if (!fits) {
    const { chainId } = chain.record;
    throw new FullmatchError(
      'rpc_invalid_answer',
      `The endpoint ${endpoint.label} of chain ${chainId} returned a different transaction than requested.`,
      { details: { chainId, endpoint: endpoint.label } },
    );
  }
  return [receiptFound, sent];
}
