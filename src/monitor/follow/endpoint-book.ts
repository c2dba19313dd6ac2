import { BLOCK_TRACE_METHODS, type BlockTraceMethod } from '../../chains/creation/block-traces.ts';
import { type Endpoint, type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { orderEndpoints } from '../../chains/rpc/endpoint-order.ts';
import { type RpcClient } from '../../chains/rpc/rpc-client.ts';
import { reasonOf } from '../../chains/rpc/rpc-faults.ts';
import { FullmatchError } from '../../errors.ts';

/** Methods that only some endpoints have. */
export type OptionalMethod = BlockTraceMethod | 'eth_getBlockReceipts';

interface Notes {
  failures: number;
  /** Until when the endpoint is not asked. */
  restsUntil: number;
  /** Since when it has been behind the cursor. */
  behindSince?: number;
  readonly missing: Map<OptionalMethod, { failures: number; until: number }>;
}

/** The error code of JSON-RPC for a method that a node does not have. */
const METHOD_NOT_FOUND = -32_601;
/** Refusals in a row after which an endpoint counts as one without the method. */
const REFUSALS = 3;
/** An operator may switch a method on. */
const MISSING_MS = 600_000;
const FIRST_REST_MS = 500;
const MAX_RETRY_AFTER_MS = 600_000;

/** What this process knows of the endpoints of one chain: which is asked, which rest, and which methods they lack. */
export class EndpointBook {
  readonly #notes = new Map<string, Notes>();
  readonly #now: () => number;
  /** The endpoint that did well last: blocks of one endpoint follow each other. */
  #current: string | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The endpoints to ask now, best first: by the client's preference, then those that can trace where that is wanted,
   * then the one that did well last. Resting ones are left out.
   */
  candidates(
    chain: RegisteredChain,
    preference: RpcClient['preference'],
    wantsTraces: boolean,
  ): readonly Endpoint[] {
    const { chainId } = chain.record;
    const ready = orderEndpoints(chain, preference).filter((each) => this.restMs(each) === 0);
    const rankOf = (each: Endpoint): number =>
      ['first', 'later', 'last'].indexOf(preference?.(chainId, each) ?? 'first');
    const weightOf = (each: Endpoint): number =>
      4 * rankOf(each) +
      (wantsTraces && this.lacksTraces(each) ? 2 : 0) +
      (each.url.reveal() === this.#current ? 0 : 1);
    return ready
      .map((endpoint) => ({ endpoint, weight: weightOf(endpoint) }))
      .sort((left, right) => left.weight - right.weight)
      .map(({ endpoint }) => endpoint);
  }

  /** Milliseconds until an endpoint may be asked again. */
  restMs(endpoint: Endpoint): number {
    const until = this.#notes.get(endpoint.url.reveal())?.restsUntil ?? 0;
    return Math.max(0, until - this.#now());
  }

  /** An endpoint did well: it goes on. */
  succeeded(endpoint: Endpoint): void {
    this.#of(endpoint).failures = 0;
    this.#current = endpoint.url.reveal();
  }

  /** An endpoint failed: it rests, twice as long each time. */
  failed(endpoint: Endpoint, error: unknown, longestRestMs: number): void {
    const notes = this.#of(endpoint);
    notes.failures += 1;
    const rest = Math.min(FIRST_REST_MS * 2 ** (notes.failures - 1), longestRestMs);
    const wish = error instanceof FullmatchError ? error.details.retryAfterMs : undefined;
    const wished = typeof wish === 'number' ? Math.min(wish, MAX_RETRY_AFTER_MS) : 0;
    notes.restsUntil = this.#now() + Math.max(rest, wished);
    if (this.#current === endpoint.url.reveal()) this.#current = undefined;
  }

  /** Goes on with another endpoint. */
  prefer(endpoint: Endpoint): void {
    this.#current = endpoint.url.reveal();
  }

  /** For how long an endpoint has been behind the cursor; not behind ends it. */
  noteBehind(endpoint: Endpoint, isBehind: boolean): number {
    const notes = this.#of(endpoint);
    if (!isBehind) {
      delete notes.behindSince;
      return 0;
    }
    notes.behindSince ??= this.#now();
    return this.#now() - notes.behindSince;
  }

  /** Whether an endpoint is known not to have a method. */
  lacks(endpoint: Endpoint, method: OptionalMethod): boolean {
    const missing = this.#notes.get(endpoint.url.reveal())?.missing.get(method);
    return missing !== undefined && missing.failures >= REFUSALS && missing.until > this.#now();
  }

  /** Whether an endpoint is known to trace no blocks. */
  lacksTraces(endpoint: Endpoint): boolean {
    return BLOCK_TRACE_METHODS.every((method) => this.lacks(endpoint, method));
  }

  /** An endpoint answered by a method. */
  noteMethod(endpoint: Endpoint, method: OptionalMethod): void {
    this.#of(endpoint).missing.delete(method);
  }

  /**
   * An endpoint refused a method: once is enough where it says that there is none. An answer that is too large says
   * that there is one.
   */
  noteRefusal(endpoint: Endpoint, method: OptionalMethod, error: unknown): void {
    if (reasonOf(error) === 'answer_too_large') return;
    const { missing } = this.#of(endpoint);
    const isAbsent =
      error instanceof FullmatchError && error.details.errorCode === METHOD_NOT_FOUND;
    const failures = isAbsent ? REFUSALS : (missing.get(method)?.failures ?? 0) + 1;
    missing.set(method, { failures, until: this.#now() + MISSING_MS });
  }

  #of(endpoint: Endpoint): Notes {
    const key = endpoint.url.reveal();
    const known = this.#notes.get(key);
    if (known !== undefined) return known;
    const notes: Notes = { failures: 0, restsUntil: 0, missing: new Map() };
    this.#notes.set(key, notes);
    return notes;
  }
}
