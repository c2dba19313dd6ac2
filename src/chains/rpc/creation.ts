import { FullmatchError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain, operatorOf } from './rpc-chain.ts';
import { findCreationAt, type FoundCreation } from './creation-at.ts';
import { type ProofRefusal, type RunningCode } from './creation-proof.ts';
import { type CreationCheck } from './creation-trace.ts';
import { CHAIN_ACCESS_DEADLINE_MS } from './deployed-code.ts';
import { planBatches, type Quorum, quorumFor } from './endpoint-order.ts';
import { type RpcClient } from './rpc-client.ts';
import { type EndpointFault, reasonOf } from './rpc-faults.ts';

/** Creation of a contract, confirmed on chain. */
export interface Creation extends FoundCreation {
  /** Labels of the endpoints that responded and agree. */
  readonly endpoints: readonly string[];
}

/**
 * Why a transaction is not accepted as the creation of a contract: `created_nothing_here` it created other
 * contracts or none; `transaction_failed`; `transaction_not_found`; `traces_unavailable` it may have, by a
 * factory, but no endpoint provides its trace; `code_too_large` its creation code exceeds the limit;
 * `not_confirmed` too few endpoints confirm it; `endpoints_disagree`; `cannot_fetch` none responded. The
 * others state why it did not deploy the current code ({@link ProofRefusal}).
 */
export type CreationRefusal =
  | 'created_nothing_here'
  | 'transaction_failed'
  | 'transaction_not_found'
  | 'traces_unavailable'
  | 'code_too_large'
  | 'not_confirmed'
  | 'endpoints_disagree'
  | 'cannot_fetch'
  | ProofRefusal;

export type CreationReading =
  | { readonly creation: Creation }
  | {
      readonly creation: undefined;
      readonly reason: CreationRefusal;
      /**
       * Whether as many endpoints give the reason as a creation needs; otherwise it only explains the missing
       * result.
       */
      readonly isAgreed: boolean;
      /** Responses and failures of the endpoints. */
      readonly endpoints: readonly EndpointFault[];
    };

export interface ReadCreationOptions {
  /** The current code, if known already; otherwise each endpoint is asked for it. */
  readonly running?: RunningCode;
  /**
   * Queries all endpoints before `created_nothing_here` counts: one that shows the creation contradicts those
   * that do not.
   */
  readonly asksAll?: boolean | undefined;
  /** How many operators must agree, as for reading code. */
  readonly quorum?: Quorum;
  readonly signal?: AbortSignal;
  /** Deadline of the whole in milliseconds; 60,000 by default. */
  readonly deadlineMs?: number;
}

/** One endpoint's statement about a creation. */
type EndpointAnswer = FoundCreation | CreationRefusal;

interface Vote {
  creation: FoundCreation;
  readonly operators: Set<string>;
  readonly labels: string[];
}

/** Statements of the endpoints so far. */
interface Count {
  readonly votes: Map<string, Vote>;
  /** Operators that deny the creation, by reason. */
  readonly denials: Map<CreationRefusal, Set<string>>;
  readonly faults: EndpointFault[];
}

/** Refusals that concern the transaction, not the endpoint. */
const DENIALS: ReadonlySet<CreationRefusal> = new Set([
  'created_nothing_here',
  'transaction_failed',
  'code_too_large',
  'left_other_code',
  'no_code_after',
  'code_was_there_before',
  'created_again',
]);

/** Most informative refusals first; the first that any endpoint gave is returned. */
const REFUSALS: readonly CreationRefusal[] = [
  'created_nothing_here',
  'transaction_failed',
  'code_was_there_before',
  'left_other_code',
  'no_code_after',
  'created_again',
  'code_too_large',
  'not_proven',
  'traces_unavailable',
  'transaction_not_found',
];

/**
 * Determines whether a transaction created the current contract at the address, and how. Facts count once as
 * many endpoints agree on them as must agree on code. Returns a reason if the transaction did not create the
 * contract, or if that cannot be determined. Rejects only with the reason of `signal`.
 */
export async function readCreation(
  rpc: RpcClient,
  chain: RpcChain,
  address: Hex,
  transactionHash: Hex,
  options: ReadCreationOptions = {},
): Promise<CreationReading> {
  const ending = AbortSignal.timeout(options.deadlineMs ?? CHAIN_ACCESS_DEADLINE_MS);
  const signal = options.signal === undefined ? ending : AbortSignal.any([options.signal, ending]);
  const asked = { rpc, chain, address, transactionHash, options: { signal } };
  const question = { ...asked, running: options.running };
  const count: Count = { votes: new Map(), denials: new Map(), faults: [] };
  let denied: CreationReading | undefined;
  try {
    for (const batch of planBatches(chain, options.quorum, rpc.preference)) {
      const answers = await Promise.all(
        batch.map((endpoint) => askEndpoint(question, endpoint, count.faults)),
      );
      for (const [index, endpoint] of batch.entries()) {
        const needed = quorumFor(chain, endpoint, options.quorum);
        const reading = countAnswer(count, endpoint, answers[index], needed);
        if (reading === undefined) continue;
        const isOpen =
          options.asksAll === true &&
          !reading.creation &&
          reading.reason === 'created_nothing_here';
        if (!isOpen && denied === undefined) return reading;
        if (isOpen) denied ??= reading;
      }
    }
    if (denied !== undefined && count.votes.size === 0) return denied;
  } catch (error) {
    if (!ending.aborted || options.signal?.aborted === true) throw error;
    count.faults.push({ endpoint: 'all', reason: 'deadline_exceeded' });
  }
  return {
    ...{ creation: undefined, reason: chooseRefusal(count), isAgreed: false },
    endpoints: count.faults,
  };
}

/** Counts one endpoint's statement; returns the result once enough operators agree. */
function countAnswer(
  count: Count,
  endpoint: Endpoint,
  answer: EndpointAnswer | undefined,
  needed: Quorum,
): CreationReading | undefined {
  const { faults, denials } = count;
  if (answer === undefined) return undefined;
  if (typeof answer !== 'string') {
    const vote = countVote(count.votes, answer, endpoint);
    if (vote.operators.size < needed) return undefined;
    return { creation: { ...vote.creation, endpoints: vote.labels } };
  }
  faults.push({ endpoint: endpoint.label, reason: answer });
  if (!DENIALS.has(answer)) return undefined;
  const operators = (denials.get(answer) ?? new Set()).add(operatorOf(endpoint));
  denials.set(answer, operators);
  if (operators.size < needed) return undefined;
  return { creation: undefined, reason: answer, isAgreed: true, endpoints: faults };
}

function chooseRefusal({ votes, denials, faults }: Count): CreationRefusal {
  if (votes.size > 1 || (votes.size === 1 && denials.size > 0)) return 'endpoints_disagree';
  if (votes.size === 1) return 'not_confirmed';
  return (
    REFUSALS.find((refusal) => faults.some(({ reason }) => reason === refusal)) ?? 'cannot_fetch'
  );
}

function countVote(votes: Map<string, Vote>, creation: FoundCreation, endpoint: Endpoint): Vote {
  // Compares all facts: a fact that is not compared would be published on the word of the first endpoint.
  const { creationCode, isFinal, ...facts } = creation;
  const key = canonicalJson({ ...facts, creationCode: bytesToHex(keccak256(creationCode)) });
  const vote = votes.get(key) ?? { creation, operators: new Set<string>(), labels: [] };
  votes.set(key, vote);
  // An endpoint that cannot tell does not contradict the facts.
  if (!isFinal) vote.creation = creation;
  const operator = operatorOf(endpoint);
  if (!vote.operators.has(operator)) vote.labels.push(endpoint.label);
  vote.operators.add(operator);
  return vote;
}

async function askEndpoint(
  question: CreationCheck & { readonly running: RunningCode | undefined },
  endpoint: Endpoint,
  faults: EndpointFault[],
): Promise<EndpointAnswer | undefined> {
  try {
    return await findCreationAt(question, endpoint, question.running);
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    faults.push({ endpoint: endpoint.label, reason: reasonOf(error) });
    return undefined;
  }
}
