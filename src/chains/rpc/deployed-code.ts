// Reads contract code from the endpoints of a chain, trusted only as far as independent operators agree.
import { CODE_MAX_BYTES } from '../../lib/code-max-bytes.ts';
import { FullmatchError } from '../../errors.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain, operatorOf } from './rpc-chain.ts';
import {
  type BlockTag,
  type CodeTarget,
  isSameBlock,
  isSyncing,
  knowsBlock,
  readBlock,
  readCodeAt,
  type Sighting,
} from './code-reading.ts';
import { planBatches, type Quorum, quorumFor } from './endpoint-order.ts';
import { type RpcClient } from './rpc-client.ts';
import { type EndpointFault, reasonOf, formatFaults } from './rpc-faults.ts';
import { type BlockHead } from './rpc-shapes.ts';

/** The code of a contract at one block, and the endpoints that agree on it. */
export interface DeployedCode {
  readonly code: Uint8Array;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Labels of the endpoints that responded and agree. */
  readonly endpoints: readonly string[];
  /** Number of independent operators of these endpoints. */
  readonly witnesses: number;
}

export interface ReadCodeOptions {
  /** Default `latest`. */
  readonly blockTag?: BlockTag;
  /**
   * How many independent operators must agree. Default 1 if an endpoint is the operator's own node, or if the
   * chain has endpoints of one operator only; else 2.
   */
  readonly quorum?: Quorum;
  readonly signal?: AbortSignal;
  /** Deadline of the whole in milliseconds; 60,000 by default. */
  readonly deadlineMs?: number;
}

export const CHAIN_ACCESS_DEADLINE_MS = 60_000;

/** An endpoint whose head is this much older than another's, and more than a few blocks behind, is stale. */
const STALE_AFTER_S = 120;
const STALE_AFTER_BLOCKS = 3;

/** Result of querying two endpoints, or a single sufficient one. */
type Outcome =
  | {
      readonly kind: 'agreed';
      readonly block: BlockHead;
      readonly code: Buffer;
      readonly endpoints: readonly string[];
      readonly witnesses: number;
    }
  | {
      readonly kind: 'disagreed';
      readonly endpoints: readonly string[];
      readonly about: 'block' | 'code';
    }
  | { readonly kind: 'undecided'; readonly fault: EndpointFault };

interface Reading {
  readonly question: CodeTarget;
  readonly tag: BlockTag;
  readonly sightings: Sighting[];
  readonly faults: EndpointFault[];
  readonly disagreements: Extract<Outcome, { kind: 'disagreed' }>[];
  readonly quorum: Quorum | undefined;
  /** Endpoints that report code that is too large to read. */
  readonly tooLarge: Endpoint[];
}

/**
 * Reads the code of a contract at a block. Endpoints of two operators must agree on it, unless one is enough.
 * @throws FullmatchError contract_not_deployed if they agree that there is no code; code_too_large if they
 * agree on that; endpoints_disagree; cannot_fetch_bytecode if too few of them responded, which says nothing
 * about the contract. The reason of `signal`.
 */
export async function readDeployedCode(
  rpc: RpcClient,
  chain: RpcChain,
  address: Hex,
  options: ReadCodeOptions = {},
): Promise<DeployedCode> {
  const ending = AbortSignal.timeout(options.deadlineMs ?? CHAIN_ACCESS_DEADLINE_MS);
  const signal = options.signal === undefined ? ending : AbortSignal.any([options.signal, ending]);
  const reading: Reading = {
    question: { rpc, chain, address, options: { signal } },
    tag: options.blockTag ?? 'latest',
    sightings: [],
    faults: [],
    disagreements: [],
    quorum: options.quorum,
    tooLarge: [],
  };
  try {
    for (const batch of planBatches(chain, options.quorum, rpc.preference)) {
      const outcome = await readBatch(reading, batch);
      if (outcome !== undefined) return conclude(reading, outcome);
    }
  } catch (error) {
    if (!ending.aborted || options.signal?.aborted === true) throw error;
    reading.faults.push({ endpoint: 'all', reason: 'deadline_exceeded' });
  }
  throw explainFailure(reading);
}

async function readBatch(
  reading: Reading,
  batch: readonly Endpoint[],
): Promise<Extract<Outcome, { kind: 'agreed' }> | undefined> {
  const { question, tag, faults, sightings, quorum } = reading;
  const heads = await Promise.all(
    batch.map((endpoint) => attempt(reading, endpoint, () => readBlock(question, endpoint, tag))),
  );
  for (const [index, endpoint] of batch.entries()) {
    const head = heads[index];
    if (head === undefined) continue;
    if (head === null) {
      faults.push({ endpoint: endpoint.label, reason: 'block_unknown' });
      continue;
    }
    const seen = { endpoint, head };
    const alone = quorumFor(question.chain, endpoint, quorum) === 1;
    const outcome = alone ? await readAlone(reading, seen) : await compareWithAll(reading, seen);
    if (outcome !== undefined) return outcome;
    sightings.push(seen);
  }
  return undefined;
}

/** An endpoint's result, or undefined if it fails, which is recorded; the overall deadline is thrown. */
async function attempt<T>(
  { faults, tooLarge }: Pick<Reading, 'faults' | 'tooLarge'>,
  endpoint: Endpoint,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    if (error.code === 'code_too_large') tooLarge.push(endpoint);
    faults.push({ endpoint: endpoint.label, reason: reasonOf(error) });
    return undefined;
  }
}

async function readAlone(
  reading: Reading,
  { endpoint, head }: Sighting,
): Promise<Extract<Outcome, { kind: 'agreed' }> | undefined> {
  const { question } = reading;
  return attempt(reading, endpoint, async () => {
    const code = await readCodeAt(question, endpoint, head);
    if (code.length === 0 && (await isSyncing(question, endpoint))) {
      const { chainId } = question.chain.record;
      throw new FullmatchError('rpc_unreachable', `${endpoint.label} has not caught up.`, {
        details: { chainId, endpoint: endpoint.label, reason: 'syncing' },
      });
    }
    return { kind: 'agreed', block: head, code, endpoints: [endpoint.label], witnesses: 1 };
  });
}

async function compareWithAll(
  reading: Reading,
  seen: Sighting,
): Promise<Extract<Outcome, { kind: 'agreed' }> | undefined> {
  const operator = operatorOf(seen.endpoint);
  for (const other of reading.sightings) {
    if (operatorOf(other.endpoint) === operator) continue;
    const outcome = await comparePair(reading, other, seen);
    if (outcome?.kind === 'agreed') return outcome;
    if (outcome?.kind === 'disagreed') reading.disagreements.push(outcome);
    if (outcome?.kind === 'undecided') reading.faults.push(outcome.fault);
  }
  return undefined;
}

/** Whether the endpoint with the lower head is too far behind the other to be trusted. */
export function isStale(lower: Omit<BlockHead, 'hash'>, upper: Omit<BlockHead, 'hash'>): boolean {
  return (
    upper.number - lower.number > STALE_AFTER_BLOCKS &&
    upper.timestamp - lower.timestamp > STALE_AFTER_S
  );
}

/** Reads the code from two endpoints at the newest block that both know. */
async function comparePair(
  reading: Reading,
  first: Sighting,
  second: Sighting,
): Promise<Outcome | undefined> {
  const { question } = reading;
  const [lower, upper] =
    first.head.number <= second.head.number ? [first, second] : [second, first];
  const endpoints = [first.endpoint.label, second.endpoint.label];
  if (lower.head.hash === upper.head.hash && !isSameBlock(lower.head, upper.head)) {
    return { kind: 'disagreed', endpoints, about: 'block' };
  }
  if (isStale(lower.head, upper.head)) {
    return { kind: 'undecided', fault: { endpoint: lower.endpoint.label, reason: 'stale' } };
  }
  const block = await findCommonBlock(reading, lower, upper);
  if (block === undefined) return undefined;
  if (block === 'disagreed') return { kind: 'disagreed', endpoints, about: 'block' };
  const [one, two] = await Promise.all(
    [first, second].map(({ endpoint }) =>
      attempt(reading, endpoint, () => readCodeAt(question, endpoint, block)),
    ),
  );
  if (one === undefined || two === undefined) return undefined;
  if (!one.equals(two)) return { kind: 'disagreed', endpoints, about: 'code' };
  if (one.length === 0 && block.hash !== upper.head.hash) {
    // The contract may exist in a block that only one of them has.
    const newest = await attempt(reading, upper.endpoint, () =>
      readCodeAt(question, upper.endpoint, upper.head),
    );
    if (newest?.length !== 0) {
      return { kind: 'undecided', fault: { endpoint: lower.endpoint.label, reason: 'behind' } };
    }
  }
  return { kind: 'agreed', block, code: one, endpoints, witnesses: 2 };
}

async function findCommonBlock(
  reading: Reading,
  lower: Sighting,
  upper: Sighting,
): Promise<BlockHead | 'disagreed' | undefined> {
  const { question } = reading;
  if (lower.head.hash === upper.head.hash) return upper.head;
  if (lower.head.number === upper.head.number) return 'disagreed';
  const heard = await attempt(reading, lower.endpoint, () =>
    knowsBlock(question, lower.endpoint, upper.head),
  );
  if (heard === true) return upper.head;
  const same = await attempt(reading, upper.endpoint, () =>
    readBlock(question, upper.endpoint, lower.head.number),
  );
  if (same === undefined) return undefined;
  return same !== null && isSameBlock(same, lower.head) ? lower.head : 'disagreed';
}

function conclude(
  { question }: Reading,
  { block, code, endpoints, witnesses }: Extract<Outcome, { kind: 'agreed' }>,
): DeployedCode {
  if (code.length > 0) {
    return { code, blockNumber: block.number, blockHash: block.hash, endpoints, witnesses };
  }
  const { chainId } = question.chain.record;
  const { address } = question;
  throw new FullmatchError(
    'contract_not_deployed',
    `Chain ${chainId} has no code at ${address} in block ${block.number}, by ${endpoints.join(' and ')}.`,
    { details: { chainId, address, blockNumber: block.number, blockHash: block.hash, endpoints } },
  );
}

/** Whether enough operators report that the code is too large. */
function isTooLarge({ question: { chain }, tooLarge, quorum }: Reading): boolean {
  const operators = new Set(tooLarge.map(operatorOf));
  return tooLarge.some((endpoint) => operators.size >= quorumFor(chain, endpoint, quorum));
}

function explainFailure(reading: Reading): FullmatchError {
  const { question, faults, disagreements } = reading;
  const { chainId } = question.chain.record;
  const { address } = question;
  if (isTooLarge(reading)) {
    return new FullmatchError(
      'code_too_large',
      `The code at ${address} on chain ${chainId} has more than ${CODE_MAX_BYTES} bytes: contracts of that size cannot be verified here.`,
      { details: { chainId, address, maxBytes: CODE_MAX_BYTES } },
    );
  }
  const [disagreement] = disagreements;
  if (disagreement !== undefined) {
    const { endpoints, about } = disagreement;
    return new FullmatchError(
      'endpoints_disagree',
      `Endpoints of chain ${chainId} disagree on the ${about} at ${address}: ${endpoints.join(' and ')}.`,
      { details: { chainId, address, about, endpoints, faults } },
    );
  }
  return new FullmatchError(
    'cannot_fetch_bytecode',
    faults.length === 0
      ? `Chain ${chainId} has not enough independent endpoints to read the code at ${address}: add one, or set quorum: 1.`
      : `The code at ${address} on chain ${chainId} could not be read: ${formatFaults(faults)}.`,
    { details: { chainId, address, endpoints: faults } },
  );
}
