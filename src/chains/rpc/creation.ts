import { FullmatchError } from '../../errors.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { type Endpoint } from '../registered-chain.ts';
import { type AskedChain, hostOf } from './asked-chain.ts';
import { readProxyDeployment } from './contract-address.ts';
import { type CreationQuestion, traceCreation } from './creation-trace.ts';
import { CHAIN_ACCESS_DEADLINE_MS } from './deployed-code.ts';
import { planWaves, type Quorum, quorumFor } from './endpoint-order.ts';
import { type RpcClient } from './rpc-client.ts';
import { type EndpointFault, reasonOf } from './rpc-faults.ts';
import { receipt, type Receipt, transaction, type Transaction } from './rpc-shapes.ts';

/** How a contract came to be, checked on chain. */
export interface Creation {
  readonly transactionHash: Hex;
  /** The creation code with its constructor arguments. */
  readonly creationCode: Uint8Array;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly transactionIndex: number;
  /**
   * Who executed the CREATE or CREATE2: the sender of the transaction, or a factory. This is `deployer` as the
   * Verifier Alliance's contract_deployments has it.
   */
  readonly deployer: Hex;
  /** The account that signed the transaction. */
  readonly sender: Hex;
  /** How the creation was found: in the transaction itself, in a call of a deployment proxy, or in a trace. */
  readonly method: 'transaction' | 'proxy' | 'trace';
  /** Labels of the endpoints that answered and agree. */
  readonly endpoints: readonly string[];
}

/**
 * Why a transaction is not taken for the creation of a contract: `created_nothing_here` it made other contracts or
 * none; `transaction_failed`; `transaction_not_found`; `traces_unavailable` it may have, by a factory, but no endpoint
 * shows what happened inside; `not_confirmed` too few endpoints say so; `endpoints_disagree`; `cannot_fetch` none
 * answered.
 */
export type CreationRefusal =
  | 'created_nothing_here'
  | 'transaction_failed'
  | 'transaction_not_found'
  | 'traces_unavailable'
  | 'not_confirmed'
  | 'endpoints_disagree'
  | 'cannot_fetch';

export type CreationReading =
  | { readonly creation: Creation }
  | {
      readonly creation: undefined;
      readonly reason: CreationRefusal;
      /** What the endpoints said or could not do. */
      readonly endpoints: readonly EndpointFault[];
    };

export interface ReadCreationOptions {
  /** As for reading the code. */
  readonly quorum?: Quorum;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole. Default 60,000. */
  readonly deadlineMs?: number;
}

/** One endpoint's word. */
type Finding = Omit<Creation, 'endpoints'> | CreationRefusal;

interface Vote {
  readonly creation: Omit<Creation, 'endpoints'>;
  readonly hosts: Set<string>;
  readonly labels: string[];
}

/** What the endpoints have said so far. */
interface Count {
  readonly votes: Map<string, Vote>;
  /** Hosts that deny the creation, by how. */
  readonly denials: Map<CreationRefusal, Set<string>>;
  readonly faults: EndpointFault[];
}

/** A transaction with large calldata, in hex. */
const TRANSACTION_MAX_BYTES = 8_000_000;

/** Refusals that say something of the transaction, not of the endpoint. */
const DENIALS: ReadonlySet<CreationRefusal> = new Set([
  'created_nothing_here',
  'transaction_failed',
]);

/** The more a refusal says, the earlier it stands: the first that any endpoint gave is the answer. */
const REFUSALS: readonly CreationRefusal[] = [
  'created_nothing_here',
  'transaction_failed',
  'traces_unavailable',
  'transaction_not_found',
];

/**
 * Whether a transaction created a contract, and how. The facts count when as many endpoints agree on them as on code.
 * A transaction that did not create the contract, or of which that cannot be known, gives the reason instead.
 * Rejects with the reason of `signal` only.
 */
export async function readCreation(
  rpc: RpcClient,
  chain: AskedChain,
  address: Hex,
  transactionHash: Hex,
  options: ReadCreationOptions = {},
): Promise<CreationReading> {
  const ending = AbortSignal.timeout(options.deadlineMs ?? CHAIN_ACCESS_DEADLINE_MS);
  const signal = options.signal === undefined ? ending : AbortSignal.any([options.signal, ending]);
  const question = { rpc, chain, address, transactionHash, options: { signal } };
  const count: Count = { votes: new Map(), denials: new Map(), faults: [] };
  try {
    for (const wave of planWaves(chain, options.quorum, rpc.preference)) {
      const findings = await Promise.all(
        wave.map((endpoint) => find(question, endpoint, count.faults)),
      );
      for (const [index, endpoint] of wave.entries()) {
        const needed = quorumFor(chain, endpoint, options.quorum);
        const reading = countFinding(count, endpoint, findings[index], needed);
        if (reading !== undefined) return reading;
      }
    }
  } catch (error) {
    if (!ending.aborted || options.signal?.aborted === true) throw error;
    count.faults.push({ endpoint: 'all', reason: 'deadline_exceeded' });
  }
  return { creation: undefined, reason: chooseRefusal(count), endpoints: count.faults };
}

/** Counts one endpoint's word; the answer when enough hosts have said the same. */
function countFinding(
  count: Count,
  endpoint: Endpoint,
  finding: Finding | undefined,
  needed: Quorum,
): CreationReading | undefined {
  const { faults, denials } = count;
  if (finding === undefined) return undefined;
  if (typeof finding !== 'string') {
    const vote = countVote(count.votes, finding, endpoint);
    if (vote.hosts.size < needed) return undefined;
    return { creation: { ...vote.creation, endpoints: vote.labels } };
  }
  faults.push({ endpoint: endpoint.label, reason: finding });
  if (!DENIALS.has(finding)) return undefined;
  const hosts = (denials.get(finding) ?? new Set()).add(hostOf(endpoint));
  denials.set(finding, hosts);
  if (hosts.size < needed) return undefined;
  return { creation: undefined, reason: finding, endpoints: faults };
}

function chooseRefusal({ votes, denials, faults }: Count): CreationRefusal {
  if (votes.size > 1 || (votes.size === 1 && denials.size > 0)) return 'endpoints_disagree';
  if (votes.size === 1) return 'not_confirmed';
  return (
    REFUSALS.find((refusal) => faults.some(({ reason }) => reason === refusal)) ?? 'cannot_fetch'
  );
}

function countVote(
  votes: Map<string, Vote>,
  creation: Omit<Creation, 'endpoints'>,
  endpoint: Endpoint,
): Vote {
  const { creationCode, blockHash, transactionIndex, deployer, sender } = creation;
  const facts = [
    bytesToHex(keccak256(creationCode)),
    blockHash,
    transactionIndex,
    deployer,
    sender,
  ];
  const key = facts.join(' ');
  const vote = votes.get(key) ?? { creation, hosts: new Set<string>(), labels: [] };
  votes.set(key, vote);
  const host = hostOf(endpoint);
  if (!vote.hosts.has(host)) vote.labels.push(endpoint.label);
  vote.hosts.add(host);
  return vote;
}

async function find(
  question: CreationQuestion,
  endpoint: Endpoint,
  faults: EndpointFault[],
): Promise<Finding | undefined> {
  try {
    return await findAt(question, endpoint);
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    faults.push({ endpoint: endpoint.label, reason: reasonOf(error) });
    return undefined;
  }
}

async function findAt(question: CreationQuestion, endpoint: Endpoint): Promise<Finding> {
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
  const to = sent.to ?? undefined;
  if (to === undefined && receiptFound.contractAddress === address) {
    return { ...facts, creationCode: sent.input, deployer: sent.from, method: 'transaction' };
  }
  const proxied = to === undefined ? undefined : readProxyDeployment(to, sent.input, address);
  if (to !== undefined && proxied !== undefined) {
    return { ...facts, creationCode: proxied, deployer: to, method: 'proxy' };
  }
  const frame = await traceCreation(question, endpoint);
  if (typeof frame === 'string') return frame;
  return { ...facts, ...frame, method: 'trace' };
}

/** The transaction and its receipt, as one endpoint has them and when they fit together. */
async function readTransaction(
  { rpc, chain, transactionHash, options }: CreationQuestion,
  endpoint: Endpoint,
): Promise<readonly [Receipt, Transaction] | undefined> {
  const receiptFound = await rpc.ask(
    chain,
    endpoint,
    {
      method: 'eth_getTransactionReceipt',
      params: [transactionHash],
      result: receipt.nullable(),
      maxBytes: TRANSACTION_MAX_BYTES,
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
      maxBytes: TRANSACTION_MAX_BYTES,
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
      `The endpoint ${endpoint.label} of chain ${chainId} answers with another transaction than asked for.`,
      { details: { chainId, endpoint: endpoint.label } },
    );
  }
  return [receiptFound, sent];
}
