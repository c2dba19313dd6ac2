// Detects proxies and their implementations, by bytecode and by the storage slots of each kind.
import { z } from 'zod';

import { FullmatchError } from '../../errors.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain } from '../rpc/rpc-chain.ts';
import { type CodeTarget, readStateAt } from '../rpc/code-reading.ts';
import {
  CHAIN_ACCESS_DEADLINE_MS,
  type DeployedCode,
  readDeployedCode,
  type ReadCodeOptions,
} from '../rpc/deployed-code.ts';
import { type RpcClient } from '../rpc/rpc-client.ts';
import { data } from '../rpc/rpc-shapes.ts';
import { addressInWord } from './address-word.ts';
import {
  containsDelegateCall,
  isSequenceWallet,
  minimalProxyTarget,
  containsMasterCopySelector,
} from './proxy-code.ts';

/** Supported kinds of proxies, by their names in the verification API v2. */
export type ProxyType =
  | 'EIP1167Proxy'
  | 'EIP1967Proxy'
  | 'ZeppelinOSProxy'
  | 'PROXIABLEProxy'
  | 'GnosisSafeProxy'
  | 'SequenceWalletProxy'
  | 'DiamondProxy';

/** Proxy state of a contract at one block: kind and implementations, or not a known kind. */
export interface ProxyReading {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Whether the bytecode can delegate calls at all. */
  readonly delegates: boolean;
  /** Absent if the contract is not a proxy of a known kind. */
  readonly proxy?: {
    readonly type: ProxyType;
    /** Lower-case hex; empty if a beacon does not name its implementation. */
    readonly implementations: readonly Hex[];
  };
}

/** Slots that contain an address, in the order they are read. */
const SLOTS = {
  /** EIP-1967: keccak256('eip1967.proxy.implementation') - 1 */
  implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
  /** EIP-1967: keccak256('eip1967.proxy.beacon') - 1 */
  beacon: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
  /** keccak256('org.zeppelinos.proxy.implementation') */
  zeppelin: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
  /** EIP-1822: keccak256('PROXIABLE') */
  proxiable: '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
  first: `0x${'0'.repeat(64)}`,
} as const satisfies Record<string, Hex>;

/** `implementation()` of a beacon (EIP-1967). */
const IMPLEMENTATION_CALL = '0x5c60da1b';
/** `facetAddresses()` of a diamond (EIP-2535). */
const FACETS_CALL = '0x52ef6b2c';
/** Maximum response of a diamond: 250 facets, each a word of 64 digits. */
const FACETS_ANSWER_BYTES = 16_384;
/** Response of a beacon: one address; a contract may return any number of bytes. */
const CALL_ANSWER_BYTES = 1_024;

/** A storage slot; some nodes omit leading zeros. */
const slotValue = z
  .string()
  .regex(/^0x[0-9a-f]{0,64}$/i)
  .transform((text): Hex => `0x${text.slice(2).toLowerCase().padStart(64, '0')}`);

/** Queries about one contract, to the endpoints that agreed on its code, at the block of that code. */
interface ProxyQuestion {
  readonly question: CodeTarget;
  readonly endpoints: readonly Endpoint[];
  readonly deployed: DeployedCode;
}

/**
 * Determines whether a contract is a proxy, and of what, in the state of one block. As many independent
 * endpoints must agree on every value as on the code.
 * @throws FullmatchError as {@link readDeployedCode} and {@link RpcClient.ask}; the reason of `signal`
 */
export async function readProxy(
  rpc: RpcClient,
  chain: RpcChain,
  address: Hex,
  options: ReadCodeOptions = {},
): Promise<ProxyReading> {
  const ending = AbortSignal.timeout(options.deadlineMs ?? CHAIN_ACCESS_DEADLINE_MS);
  const signal = AbortSignal.any([ending, ...(options.signal ? [options.signal] : [])]);
  const deployed = await readDeployedCode(rpc, chain, address, options);
  const { blockNumber, blockHash, code } = deployed;
  const delegates = containsDelegateCall(code);
  if (!delegates) return { blockNumber, blockHash, delegates };
  try {
    const proxy = await findProxy({
      question: { rpc, chain, address, options: { signal } },
      endpoints: chain.endpoints.filter(({ label }) => deployed.endpoints.includes(label)),
      deployed,
    });
    return { blockNumber, blockHash, delegates, ...(proxy && { proxy }) };
  } catch (error) {
    if (!ending.aborted || options.signal?.aborted === true) throw error;
    const { chainId } = chain.record;
    throw new FullmatchError(
      'cannot_fetch_bytecode',
      `The storage of ${address} on chain ${chainId} could not be read in time.`,
      { details: { chainId, address }, cause: error },
    );
  }
}

async function findProxy(lookup: ProxyQuestion): Promise<ProxyReading['proxy']> {
  const { code } = lookup.deployed;
  const target = minimalProxyTarget(code);
  if (target !== undefined) return { type: 'EIP1167Proxy', implementations: [target] };
  if (isSequenceWallet(code)) {
    const own: Hex = `0x${lookup.question.address.slice(2).padStart(64, '0')}`;
    return atSlot(lookup, 'SequenceWalletProxy', own);
  }
  const found =
    (await atSlot(lookup, 'EIP1967Proxy', SLOTS.implementation)) ??
    (await behindBeacon(lookup)) ??
    (await atSlot(lookup, 'ZeppelinOSProxy', SLOTS.zeppelin)) ??
    (await atSlot(lookup, 'PROXIABLEProxy', SLOTS.proxiable));
  if (found !== undefined) return found;
  const safe = containsMasterCopySelector(code)
    ? await atSlot(lookup, 'GnosisSafeProxy', SLOTS.first)
    : undefined;
  return safe ?? askFacets(lookup);
}

async function atSlot(
  lookup: ProxyQuestion,
  type: ProxyType,
  slot: Hex,
): Promise<ProxyReading['proxy']> {
  const target = await readSlot(lookup, slot);
  return target === undefined ? undefined : { type, implementations: [target] };
}

async function behindBeacon(lookup: ProxyQuestion): Promise<ProxyReading['proxy']> {
  const beacon = await readSlot(lookup, SLOTS.beacon);
  if (beacon === undefined) return undefined;
  const target = await askBeacon(lookup, beacon);
  return { type: 'EIP1967Proxy', implementations: target === undefined ? [] : [target] };
}

/** The address in a slot; undefined if it is zero or not an address. */
async function readSlot(lookup: ProxyQuestion, slot: Hex): Promise<Hex | undefined> {
  const { question } = lookup;
  const value = await agreed(lookup, 'storage', (endpoint, at) =>
    question.rpc.ask(
      question.chain,
      endpoint,
      { method: 'eth_getStorageAt', params: [question.address, slot, at], result: slotValue },
      question.options,
    ),
  );
  return addressIn(value);
}

/** The facets of a diamond (EIP-2535); undefined if the response is not a list of addresses. */
async function askFacets(lookup: ProxyQuestion): Promise<ProxyReading['proxy']> {
  const { address } = lookup.question;
  const answer = await askContract(lookup, 'facets', address, FACETS_CALL, FACETS_ANSWER_BYTES);
  const implementations = answer && addressesIn(answer);
  return implementations && { type: 'DiamondProxy', implementations };
}

/** The address that a beacon returns; undefined if it returns an error or anything else. */
async function askBeacon(lookup: ProxyQuestion, beacon: Hex): Promise<Hex | undefined> {
  const answer = await askContract(
    lookup,
    'beacon',
    beacon,
    IMPLEMENTATION_CALL,
    CALL_ANSWER_BYTES,
  );
  return answer?.length === 66 ? addressIn(answer) : undefined;
}

/** The result of a call to a contract; undefined if it is an error, or longer than `maxBytes`. */
async function askContract(
  lookup: ProxyQuestion,
  about: 'beacon' | 'facets',
  to: Hex,
  call: Hex,
  maxBytes: number,
): Promise<Hex | undefined> {
  const { question } = lookup;
  try {
    return await agreed(lookup, about, async (endpoint, at) => {
      const params = [{ to, data: call }, at];
      const request = { method: 'eth_call', params, result: data, maxBytes };
      return bytesToHex(
        await question.rpc.ask(question.chain, endpoint, request, question.options),
      );
    });
  } catch (error) {
    const isAnswer =
      error instanceof FullmatchError &&
      (error.code === 'rpc_refused' || error.code === 'rpc_invalid_answer');
    if (isAnswer) return undefined;
    throw error;
  }
}

/** The address in a word, unless it is zero. */
function addressIn(word: Hex): Hex | undefined {
  const address = addressInWord(word);
  return address === undefined || /^0x0+$/.test(address) ? undefined : address;
}

/** The addresses of an ABI-encoded list, if it contains nothing else and none of them is zero. */
function addressesIn(answer: Hex): readonly Hex[] | undefined {
  const words = answer.slice(2).match(/.{64}/g) ?? [];
  const [offset = '', count = '', ...rest] = words;
  const isList = BigInt(`0x0${offset}`) === 32n && BigInt(`0x0${count}`) === BigInt(rest.length);
  if (!isList || rest.length === 0 || answer.length !== 2 + 64 * words.length) return undefined;
  const found = rest.map((word) => addressIn(`0x${word}`));
  return found.every((each) => each !== undefined) ? found : undefined;
}

/** The value of another query in the same block, if all endpoints that agreed on the code agree on it. */
async function agreed(
  { question, endpoints, deployed }: ProxyQuestion,
  about: 'storage' | 'beacon' | 'facets',
  ask: (endpoint: Endpoint, at: unknown) => Promise<Hex>,
): Promise<Hex> {
  const block = { number: deployed.blockNumber, hash: deployed.blockHash };
  const [first, ...others] = await Promise.all(
    endpoints.map((endpoint) => readStateAt(question, endpoint, block, (at) => ask(endpoint, at))),
  );
  if (first !== undefined && others.every((other) => other === first)) return first;
  const { chainId } = question.chain.record;
  throw new FullmatchError(
    'endpoints_disagree',
    `Endpoints of chain ${chainId} disagree on the ${about} at ${question.address}: ${deployed.endpoints.join(' and ')}.`,
    { details: { chainId, address: question.address, about, endpoints: deployed.endpoints } },
  );
}
