import { setTimeout as wait } from 'node:timers/promises';
import { type Endpoint, type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type AskedChain, hostOf, isOwnNode, operatorOf } from '../../chains/rpc/asked-chain.ts';
import { quorumFor } from '../../chains/rpc/endpoint-order.ts';
import { type AskOptions, type RpcClient, type RpcRequest } from '../../chains/rpc/rpc-client.ts';
import { type EndpointFault } from '../../chains/rpc/rpc-faults.ts';
import { lacksMethod } from '../../chains/rpc/creation-trace.ts';
import { type Hex } from '../../lib/hex.ts';
import { mapInOrder } from '../../lib/map-in-order.ts';
import { type BlockCreations } from '../seen-creation.ts';
import { EndpointBook } from './endpoint-book.ts';
import { allFailed, endpointReason, FollowFault, isEndpointFault } from './follow-fault.ts';
import { type FollowParts, type FollowSettings } from './follow-options.ts';
import {
  type BlockHeader,
  type BlockQuestion,
  readBlockCreations,
  readHeader,
} from './read-block.ts';

/** The newest blocks of a chain by one endpoint. */
export interface ChainHead {
  readonly head: BlockHeader;
  /** The newest block that cannot be replaced any more; where no endpoint says so, {@link ASSUMED_FINAL_DEPTH} below the head. */
  readonly finalized: number;
  readonly isFinalityKnown: boolean;
}

/** Where a chain does not say what is final, blocks this deep are taken for it. What is replaced all the same is rolled back. */
const ASSUMED_FINAL_DEPTH = 64;
/** A second operator hears of a new block a little later. */
const CONFIRM_ATTEMPTS = 3;
const CONFIRM_PAUSE_MS = 300;
const OWN_REST_MS = 1000;

/** Reads the blocks of one chain for this process, from one good endpoint after another. */
export class ChainReader {
  readonly #chainId: number;
  readonly #parts: FollowParts;
  readonly #settings: FollowSettings;
  readonly #rpc: RpcClient;
  readonly #signal: AbortSignal;
  readonly #book: EndpointBook;
  /** What is shown while every endpoint rests. */
  #lastFault: FollowFault | undefined;
  #finalized: { readonly number: number | undefined; readonly at: number } | undefined;

  constructor(chainId: number, parts: FollowParts, settings: FollowSettings, signal: AbortSignal) {
    this.#chainId = chainId;
    this.#parts = parts;
    this.#settings = settings;
    this.#signal = signal;
    this.#rpc = countRequests(parts.rpc, parts.takeRequest);
    this.#book = new EndpointBook();
  }

  get book(): EndpointBook {
    return this.#book;
  }

  /**
   * Does work by the best endpoint, and by the next one where that fails.
   * @throws FollowFault when all of them failed; what is not the fault of an endpoint. The reason of the signal.
   */
  async withEndpoint<T>(work: (question: BlockQuestion) => Promise<T>): Promise<T> {
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

  /** The newest block of an endpoint, and the newest final one, which is asked for now and then. */
  async readHead(question: BlockQuestion, head: BlockHeader): Promise<ChainHead> {
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
   * What blocks created, in their order, up to the first that does not follow the one before, and as far as enough
   * operators have the same blocks.
   * @param known headers that were read already
   */
  async readBlocks(
    question: BlockQuestion,
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

  /** @throws FollowFault where this endpoint traces no blocks and another one may: that one is asked first. */
  #preferTracing({ chain, endpoint }: BlockQuestion): void {
    if (!this.#book.lacksTraces(endpoint)) return;
    const others = this.#book.candidates(chain, this.#rpc.preference, true);
    if (others.every((other) => this.#book.lacksTraces(other))) return;
    const message = `The endpoint ${endpoint.label} traces no blocks.`;
    throw new FollowFault('rpc_unreachable', message, 'traces_unavailable');
  }

  /** The blocks up to the last that enough operators have: those with creations are compared, and the last one. */
  async #confirmBlocks(
    question: BlockQuestion,
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

  /** Blocks before one that nobody else has yet: their own last one is compared too. */
  async #confirmedPrefix(
    question: BlockQuestion,
    blocks: readonly BlockCreations[],
  ): Promise<readonly BlockCreations[]> {
    const last = blocks.at(-1);
    if (last === undefined) return [];
    return (await this.confirm(question, last.number, last.hash)) ? blocks : [];
  }

  /** Whether the word of this endpoint is not enough. */
  #needsOthers({ chain, endpoint }: BlockQuestion): boolean {
    return quorumFor(chain, endpoint, this.#parts.quorumOf(this.#chainId)) > 1;
  }

  /**
   * Whether enough operators have this block under its number; false while no other has it yet.
   * @param always whether every other operator that answers is asked, also where one is enough
   * @throws FollowFault endpoints_disagree
   */
  async confirm(
    question: BlockQuestion,
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

  /** The hash that another endpoint has under a number; undefined where it has none, or does not answer. */
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

  /** Goes on with another endpoint where that one has a newer block than the one that is read. */
  async preferFurther(question: BlockQuestion, head: number): Promise<void> {
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

  /** An own node that comes back is asked again at once: nobody counts its requests. */
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

  #questionOf(chain: RegisteredChain, endpoint: Endpoint): BlockQuestion {
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

/** The number of the newest final block; undefined when the endpoint does not say. */
async function readFinalNumber(question: BlockQuestion): Promise<number | undefined> {
  try {
    return (await readHeader(question, 'finalized'))?.number;
  } catch (error) {
    if (!lacksMethod(error)) throw error;
    return undefined;
  }
}

/** A client that asks the budget before each question. */
function countRequests(rpc: RpcClient, takeRequest: FollowParts['takeRequest']): RpcClient {
  if (takeRequest === undefined) return rpc;
  return {
    ...(rpc.preference && { preference: rpc.preference }),
    async ask<T>(
      chain: AskedChain,
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
