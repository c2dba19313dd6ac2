import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { readCodeAt, readCodeByNumber } from './code-reading.ts';
import { type CreationCheck, lacksMethod } from './creation-trace.ts';
import { canDestroyItself } from './destroyable-code.ts';
import { reasonOf } from './rpc-faults.ts';
import { blockHead, hash, quantity, toQuantity } from './rpc-shapes.ts';

/** The runtime bytecode of an address, and the block at which it was read. */
export interface RunningCode {
  readonly code: Uint8Array;
  readonly blockNumber: number;
}

/**
 * Why a transaction that may have created the contract is not accepted for the current bytecode:
 * `left_other_code` it deployed other bytecode; `no_code_after` the address had no code after it, according
 * to an endpoint that may have pruned that state; `code_was_there_before` the code existed before its block,
 * so it created nothing; `created_again` the contract was later destroyed and recreated; `not_proven` the
 * endpoint provides neither traces nor old states to tell.
 */
export type ProofRefusal =
  'left_other_code' | 'no_code_after' | 'code_was_there_before' | 'created_again' | 'not_proven';

/** Proof that a transaction deployed the current bytecode. */
export interface CreationProof {
  /**
   * Whether a trace or the receipt shows the creation, and a later recreation is impossible. Otherwise the
   * sampled states merely show no other one.
   */
  readonly isFinal: boolean;
}

/** The block that contains the transaction. */
interface CreationBlock {
  readonly number: number;
  readonly hash: Hex;
  /** The account that signed the transaction: its nonce is above zero in every later state. */
  readonly sender: Hex;
}

/** Runtime bytecode of the deterministic deployment proxy, which reverts if it creates nothing. */
const DEPLOYMENT_PROXY_CODE = Buffer.from(
  `7f${'ff'.repeat(31)}e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3`,
  'hex',
);

/** Blocks after the creation at which the code is checked again. */
const SAMPLES = 12;

/** Header field since Cancun (EIP-4788); in that fork SELFDESTRUCT ceased to remove code (EIP-6780). */
const cancunHead = blockHead.extend({ parentBeaconBlockRoot: hash.nullish().catch(null) });

const FINAL: CreationProof = { isFinal: true };
/** States alone never prove it completely: a withdrawn or claimed creation may contradict them. */
const UNTRACED: CreationProof = { isFinal: false };

type StateAt = 'same' | 'none' | 'other' | 'unavailable';

/**
 * Proves that a transaction whose receipt names the contract deployed the current bytecode. The address of
 * such a contract is derived from a nonce of the sender, which never repeats, so nothing else can have
 * created it. If the endpoint keeps the state of that block, the bytecode must have been the same then, which
 * also detects code that a chain replaced manually.
 */
export async function provePlainCreation(
  question: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  block: CreationBlock,
): Promise<CreationProof | ProofRefusal> {
  const after = await readState(question, endpoint, running, block);
  return refuseOtherState(after) ?? FINAL;
}

/** Interprets a different state right after the transaction. Some endpoints return pruned states as empty. */
function refuseOtherState(after: StateAt): ProofRefusal | undefined {
  if (after === 'none') return 'no_code_after';
  return after === 'other' ? 'left_other_code' : undefined;
}

/**
 * Proves that a creation inside a transaction deployed the current bytecode, and that no later one did. The
 * trace must show exactly that bytecode. Code that cannot destroy itself is permanent, and so is all code
 * since EIP-6780 once its transaction has ended. Otherwise the states that the endpoint keeps must show the
 * same code from then until now.
 * @param runtimeCode the deployed bytecode according to the trace, if it shows it
 */
export async function proveTracedCreation(
  question: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  block: CreationBlock,
  runtimeCode: Buffer | undefined,
): Promise<CreationProof | ProofRefusal> {
  if (runtimeCode !== undefined && !runtimeCode.equals(running.code)) return 'left_other_code';
  const after = await readState(question, endpoint, running, block);
  const refusal = refuseOtherState(after);
  if (refusal !== undefined) return refusal;
  if (after === 'unavailable' && runtimeCode === undefined) return 'not_proven';
  return proveStanding(question, endpoint, running, block);
}

/**
 * Proves without a trace that a call of the known deployment proxy created the contract: the call data yields
 * this address, and the proxy reverts if it creates nothing. The proxy must have had its code in the previous
 * block: a call to an address without code succeeds, and creates nothing. The creation bytecode must not be
 * able to destroy the contract within its transaction: then the same call could create it again, even in the
 * same block.
 */
export async function proveProxiedCreation(
  question: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  block: CreationBlock,
  { proxy, creationCode }: { readonly proxy: Hex; readonly creationCode: Uint8Array },
): Promise<CreationProof | ProofRefusal> {
  const before = await readStateAt(question, endpoint, running, block.number - 1);
  if (before === 'same' || before === 'other') return 'code_was_there_before';
  const after = await readState(question, endpoint, running, block);
  const refusal = refuseOtherState(after);
  if (refusal !== undefined) return refusal;
  if (canDestroyItself(creationCode)) return 'not_proven';
  const atProxy = { ...question, address: proxy };
  const known = { ...running, code: DEPLOYMENT_PROXY_CODE };
  const proxyBefore = await readStateAt(atProxy, endpoint, known, block.number - 1);
  if (proxyBefore !== 'same') return 'not_proven';
  const standing = await proveStanding(question, endpoint, running, block);
  return typeof standing === 'string' ? standing : UNTRACED;
}

/** Proves that the contract was not destroyed and recreated after its creation, as far as possible. */
async function proveStanding(
  question: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  block: CreationBlock,
): Promise<CreationProof | ProofRefusal> {
  if (!canDestroyItself(running.code)) return FINAL;
  if (await isSinceCancun(question, endpoint, block)) return FINAL;
  for (const number of sampleBlocks(block.number, running.blockNumber)) {
    const state = await readStateAt(question, endpoint, running, number);
    if (state === 'same') continue;
    if (state === 'other') return number === block.number ? 'left_other_code' : 'created_again';
    const isKept = state === 'none' && (await keepsState(question, endpoint, block, number));
    if (!isKept) return 'not_proven';
    return number === block.number ? 'no_code_after' : 'created_again';
  }
  return { isFinal: false };
}

/** Whether an endpoint still has a state after the transaction: some return pruned ones as empty. */
async function keepsState(
  { rpc, chain, options }: CreationCheck,
  endpoint: Endpoint,
  { sender }: CreationBlock,
  number: number,
): Promise<boolean> {
  const request = {
    method: 'eth_getTransactionCount',
    params: [sender, toQuantity(number)],
    result: quantity,
  };
  try {
    return (await rpc.ask(chain, endpoint, request, options)) > 0;
  } catch (error) {
    if (error instanceof FullmatchError && lacksMethod(error)) return false;
    throw error;
  }
}

/** All blocks of a short range, else samples at even distances; the creation's own block is included. */
export function sampleBlocks(first: number, last: number): readonly number[] {
  const count = Math.min(SAMPLES, Math.max(1, last - first + 1));
  const step = count === 1 ? 0 : (last - first) / (count - 1);
  return Array.from({ length: count }, (_, index) => first + Math.round(step * index));
}

async function isSinceCancun(
  { rpc, chain, options }: CreationCheck,
  endpoint: Endpoint,
  block: CreationBlock,
): Promise<boolean> {
  const request = {
    method: 'eth_getBlockByHash',
    params: [block.hash, false],
    result: cancunHead.nullable(),
  };
  const head = await rpc.ask(chain, endpoint, request, options);
  return typeof head?.parentBeaconBlockRoot === 'string';
}

function compareState(code: Buffer, running: RunningCode): StateAt {
  if (code.equals(running.code)) return 'same';
  return code.length === 0 ? 'none' : 'other';
}

/** The state in the block of the transaction, which is identified by its hash. */
async function readState(
  { rpc, chain, address, options }: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  block: CreationBlock,
): Promise<StateAt> {
  const question = { rpc, chain, address, options };
  return stateOf(async () => compareState(await readCodeAt(question, endpoint, block), running));
}

async function readStateAt(
  { rpc, chain, address, options }: CreationCheck,
  endpoint: Endpoint,
  running: RunningCode,
  number: number,
): Promise<StateAt> {
  if (number < 0) return 'none';
  const question = { rpc, chain, address, options };
  return stateOf(async () =>
    compareState(await readCodeByNumber(question, endpoint, number), running),
  );
}

/** A node without an old state refuses; unavailable or throttled nodes fail differently. */
async function stateOf(read: () => Promise<StateAt>): Promise<StateAt> {
  try {
    return await read();
  } catch (error) {
    const isReorganised = reasonOf(error) === 'reorganised';
    if (error instanceof FullmatchError && lacksMethod(error) && !isReorganised)
      return 'unavailable';
    throw error;
  }
}
