import { setTimeout as wait } from 'node:timers/promises';
import { type Endpoint, type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type RpcChain, hostOf, isOwnNode, operatorOf } from '../../chains/rpc/rpc-chain.ts';
import { quorumFor } from '../../chains/rpc/endpoint-order.ts';
import { type AskOptions, type RpcClient, type RpcRequest } from '../../chains/rpc/rpc-client.ts';
import { type EndpointFault } from '../../chains/rpc/rpc-faults.ts';
import { lacksMethod } from '../../chains/rpc/creation-trace.ts';
import { type Hex } from '../../lib/hex.ts';
import { mapInOrder } from '../../lib/map-in-order.ts';
import { type BlockCreations } from '../found-creation.ts';
import { EndpointStates } from './endpoint-states.ts';
import { allFailed, endpointReason, FollowFault, isEndpointFault } from './follow-fault.ts';
import { type FollowDependencies, type FollowSettings } from './follow-options.ts';
import {
  type BlockHeader,
  type BlockSource,
  readBlockCreations,
  readHeader,
} from './read-block.ts';

/** Newest blocks of a chain according to one endpoint. */
export interface ChainHead {
  readonly head: BlockHeader;
  /** The newest final block; if no endpoint reports finality, the block {@link ASSUMED_FINAL_DEPTH} below the head. */
  readonly finalized: number;
  readonly isFinalityKnown: boolean;
}

/**
 * On chains that do not report finality, blocks this deep are assumed final. If such a block is replaced
 * anyway, it is rolled back.
 */
const ASSUMED_FINAL_DEPTH = 64;
/** Another operator's endpoint may receive a new block a little later. */
const CONFIRM_ATTEMPTS = 3;
const CONFIRM_PAUSE_MS = 300;
const OWN_REST_MS = 1000;

/** Reads the blocks of one chain for this process, from one working endpoint at a time. */
export class ChainReader {
  readonly #chainId: number;
  readonly #parts: FollowDependencies;
  readonly #settings: FollowSettings;
  readonly #rpc: RpcClient;
  readonly #signal: AbortSignal;
  readonly #book: EndpointStates;
  /** Fault that is shown while all endpoints rest. */
  #lastFault: FollowFault | undefined;
  #finalized: { readonly number: number | undefined; readonly at: number } | undefined;

  constructor(
    chainId: number,
    parts: FollowDependencies,
    settings: FollowSettings,
    signal: AbortSignal,
  ) {
    this.#chainId = chainId;
    this.#parts = parts;
    this.#settings = settings;
    this.#signal = signal;
    this.#rpc = countRequests(parts.rpc, parts.takeRequest);
    this.#book = new EndpointStates();
  }

  get book(): EndpointStates {
    return this.#book;
  }

  /**
   * Runs `work` with the best endpoint, and with the next one if that fails.
   * @throws FollowFault if all of them failed; any error that is not an endpoint's fault. The reason of the
   * signal.
   */
  async withEndpoint<T>(work: (question: BlockSource) => Promise<T>): Promise<T> {
    const chain = this.#requireChain();
    const candidates = this.#book.candidates(chain, this.#rpc.preference, this.#wantsTraces());
    const faults: EndpointFault[] = [];
    for (const endpoint of candidates) {
      this.#signal.throwIfAborted();
      try {
        const value = await work(this.#questionOf(chain, endpoint));
        this.#book.succeeded(endpoint);
        return value;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!isEndpointFault(error)) throw error;
        this.#rest(chain, endpoint, error);
        faults.push({ endpoint: endpoint.label, reason: endpointReason(error) });
      }
    }
    if (candidates.length > 0 || this.#lastFault === undefined) this.#lastFault = allFailed(faults);
    throw this.#lastFault;
  }

  /** Returns an endpoint's head and its newest final block, which is only refreshed from time to time. */
  async readHead(question: BlockSource, head: BlockHeader): Promise<ChainHead> {
    const now = performance.now();
    const known = this.#finalized;
    if (known === undefined || now - known.at >= this.#settings.finalizedMs) {
      this.#finalized = { number: await readFinalNumber(question), at: now };
    }
    const finalized = this.#finalized?.number;
    const assumed = Math.max(0, head.number - ASSUMED_FINAL_DEPTH);
    return {
      head,
      finalized: Math.min(finalized ?? assumed, head.number),
      isFinalityKnown: finalized !== undefined,
    };
  }

  /**
   * Reads the creations of consecutive blocks in order. Stops at the first block that does not follow its
   * predecessor, and at the first that not enough operators confirm.
   * @param known a header that was already read
   */
  async readBlocks(
    question: BlockSource,
    first: number,
    last: number,
    known?: BlockHeader,
  ): Promise<readonly BlockCreations[]> {
    const wantsTraces = this.#wantsTraces();
    const read = mapInOrder(numbers(first, last), this.#settings.blocksAtOnce, (number) =>
      readBlockCreations(
        question,
        number,
        wantsTraces,
        known?.number === number ? known : undefined,
      ),
    );
    const blocks: BlockCreations[] = [];
    for await (const block of read) {
      const before = blocks.at(-1);
      if (before !== undefined && before.hash !== block.parentHash) break;
      blocks.push(block);
    }
    if (wantsTraces && blocks.some(({ isTraced }) => !isTraced)) this.#preferTracing(question);
    return this.#confirmBlocks(question, blocks);
  }

  /**
   * @throws FollowFault if this endpoint cannot trace blocks but another one may, so that the other one is
   * tried first
   */
  #preferTracing({ chain, endpoint }: BlockSource): void {
    if (!this.#book.lacksTraces(endpoint)) return;
    const others = this.#book.candidates(chain, this.#rpc.preference, true);
    if (others.every((other) => this.#book.lacksTraces(other))) return;
    const message = `The endpoint ${endpoint.label} traces no blocks.`;
    throw new FollowFault('rpc_unreachable', message, 'traces_unavailable');
  }

  /**
   * Returns the blocks up to the last one that enough operators confirm. Compares the blocks with creations
   * and the last block.
   */
  async #confirmBlocks(
    question: BlockSource,
    blocks: readonly BlockCreations[],
  ): Promise<readonly BlockCreations[]> {
    if (!this.#needsOthers(question)) return blocks;
    const compared = blocks.filter(
      ({ creations }, index) => creations.length > 0 || index === blocks.length - 1,
    );
    for (const { number, hash } of compared) {
      const isConfirmed = await this.confirm(question, number, hash);
      if (isConfirmed) continue;
      const before = blocks.findIndex((block) => block.number === number);
      return this.#confirmedPrefix(question, blocks.slice(0, before));
    }
    return blocks;
  }

  /** Returns the blocks before an unconfirmed one if their last block is confirmed, else none. */
  async #confirmedPrefix(
    question: BlockSource,
    blocks: readonly BlockCreations[],
  ): Promise<readonly BlockCreations[]> {
    const last = blocks.at(-1);
    if (last === undefined) return [];
    return (await this.confirm(question, last.number, last.hash)) ? blocks : [];
  }

  /** Returns whether one endpoint is not enough for the quorum. */
  #needsOthers({ chain, endpoint }: BlockSource): boolean {
    return quorumFor(chain, endpoint, this.#parts.quorumOf(this.#chainId)) > 1;
  }

  /**
   * Returns whether enough operators have this block under its number; false while no other operator has it.
   * @param always whether to ask every other operator that responds, even if the quorum is one
   * @throws FollowFault endpoints_disagree
   */
  async confirm(
    question: BlockSource,
    number: number,
    hash: Hex,
    always = false,
  ): Promise<boolean> {
    const needed = this.#needsOthers(question);
    if (!needed && !always) return true;
    const { chain, endpoint } = question;
    const operator = operatorOf(endpoint);
    const others = this.#book
      .candidates(chain, this.#rpc.preference, false)
      .filter((each) => operatorOf(each) !== operator);
    let agreed = 0;
    for (let attempt = 1; attempt <= CONFIRM_ATTEMPTS; attempt += 1) {
      for (const other of others) {
        const theirs = await this.#readOther(chain, other, number);
        if (theirs === undefined) continue;
        if (theirs !== hash) throw disagree(endpoint, other, number);
        agreed += 1;
        if (!always) return true;
      }
      if (always) return agreed > 0 || !needed;
      await wait(CONFIRM_PAUSE_MS * attempt, undefined, { signal: this.#signal });
    }
    return false;
  }

  /** Reads another endpoint's block hash for a number; undefined if it has none or does not respond. */
  async #readOther(
    chain: RegisteredChain,
    endpoint: Endpoint,
    number: number,
  ): Promise<Hex | undefined> {
    try {
      return (await readHeader(this.#questionOf(chain, endpoint), number))?.hash;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!isEndpointFault(error)) throw error;
      this.#rest(chain, endpoint, error);
      return undefined;
    }
  }

  /** Switches to another endpoint if that one has a newer block. */
  async preferFurther(question: BlockSource, head: number): Promise<void> {
    const { chain, endpoint } = question;
    const others = this.#book
      .candidates(chain, this.#rpc.preference, this.#wantsTraces())
      .filter((each) => each.url.reveal() !== endpoint.url.reveal());
    for (const other of others) {
      try {
        const theirs = await readHeader(this.#questionOf(chain, other), 'latest');
        if (theirs === null || theirs.number <= head) continue;
        this.#rest(chain, endpoint, undefined);
        this.#book.prefer(other);
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!isEndpointFault(error)) throw error;
        this.#rest(chain, other, error);
      }
    }
  }

  /** Rests an endpoint. The operator's own node rests only briefly, since its requests are free. */
  #rest(chain: RegisteredChain, endpoint: Endpoint, error: unknown): void {
    const longestMs = isOwnNode(chain, endpoint) ? OWN_REST_MS : this.#settings.longestRestMs;
    this.#book.failed(endpoint, error, longestMs);
  }

  #wantsTraces(): boolean {
    return this.#parts.monitored().get(this.#chainId)?.traces ?? true;
  }

  #requireChain(): RegisteredChain {
    const chain = this.#parts.findChain(this.#chainId);
    if (chain !== undefined) return chain;
    const message = `Chain ${this.#chainId} is not in the registry.`;
    throw new FollowFault('chain_not_found', message);
  }

  #questionOf(chain: RegisteredChain, endpoint: Endpoint): BlockSource {
    const { askMs } = this.#settings;
    return { rpc: this.#rpc, chain, endpoint, book: this.#book, signal: this.#signal, askMs };
  }
}

async function* numbers(first: number, last: number): AsyncGenerator<number> {
  for (let number = first; number <= last; number += 1) yield number;
}

function disagree(one: Endpoint, other: Endpoint, number: number): FollowFault {
  return new FollowFault(
    'endpoints_disagree',
    `The endpoints ${one.label} and ${other.label} have different blocks under number ${number}.`,
  );
}

/** Reads the number of the newest final block; undefined if the endpoint does not report it. */
async function readFinalNumber(question: BlockSource): Promise<number | undefined> {
  try {
    return (await readHeader(question, 'finalized'))?.number;
  } catch (error) {
    if (!lacksMethod(error)) throw error;
    return undefined;
  }
}

/** Wraps a client so that it checks the budget before each request. */
function countRequests(rpc: RpcClient, takeRequest: FollowDependencies['takeRequest']): RpcClient {
  if (takeRequest === undefined) return rpc;
  return {
    ...(rpc.preference && { preference: rpc.preference }),
    async ask<T>(
      chain: RpcChain,
      endpoint: Endpoint,
      request: RpcRequest<T>,
      options?: AskOptions,
    ): Promise<T> {
      if (!takeRequest(hostOf(endpoint))) {
        throw new FollowFault('budget_spent', `No request to ${endpoint.label} is left for today.`);
      }
      return rpc.ask(chain, endpoint, request, options);
    },
    askAny: (chain, request, options) => rpc.askAny(chain, request, options),
  };
}
