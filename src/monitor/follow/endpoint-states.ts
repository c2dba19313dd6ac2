import { BLOCK_TRACE_METHODS, type BlockTraceMethod } from '../../chains/creation/block-traces.ts';
import { type Endpoint, type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { orderEndpoints } from '../../chains/rpc/endpoint-order.ts';
import { type RpcClient } from '../../chains/rpc/rpc-client.ts';
import { reasonOf } from '../../chains/rpc/rpc-faults.ts';
import { FullmatchError } from '../../errors.ts';

/** Methods that not all endpoints support. */
export type OptionalMethod = BlockTraceMethod | 'eth_getBlockReceipts';

interface Notes {
  failures: number;
  /** Time until which the endpoint is not used. */
  restsUntil: number;
  /** Time since which it has been behind the cursor. */
  behindSince?: number;
  readonly missing: Map<OptionalMethod, { failures: number; until: number }>;
}

/** JSON-RPC error code for an unknown method. */
const METHOD_NOT_FOUND = -32_601;
/** Consecutive refusals after which a method counts as unsupported by the endpoint. */
const REFUSALS = 3;
/** Retry unsupported methods after this time: an operator may enable them. */
const MISSING_MS = 600_000;
const FIRST_REST_MS = 500;
const MAX_RETRY_AFTER_MS = 600_000;

/**
 * State of the endpoints of one chain in this process: which one is in use, which ones rest, and which
 * methods they lack.
 */
export class EndpointStates {
  readonly #notes = new Map<string, Notes>();
  readonly #now: () => number;
  /** Endpoint of the last success: consecutive blocks should come from one endpoint. */
  #current: string | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Returns the endpoints to use now, best first: by the client's preference, then by tracing support if
   * traces are wanted, then the last successful one. Excludes resting endpoints.
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

  /** Returns the milliseconds until an endpoint may be used again. */
  restMs(endpoint: Endpoint): number {
    const until = this.#notes.get(endpoint.url.reveal())?.restsUntil ?? 0;
    return Math.max(0, until - this.#now());
  }

  /** Records a success; the endpoint stays in use. */
  succeeded(endpoint: Endpoint): void {
    this.#of(endpoint).failures = 0;
    this.#current = endpoint.url.reveal();
  }

  /** Records a failure: the endpoint rests, twice as long for each consecutive failure. */
  failed(endpoint: Endpoint, error: unknown, longestRestMs: number): void {
    const notes = this.#of(endpoint);
    notes.failures += 1;
    const rest = Math.min(FIRST_REST_MS * 2 ** (notes.failures - 1), longestRestMs);
    const wish = error instanceof FullmatchError ? error.details.retryAfterMs : undefined;
    const wished = typeof wish === 'number' ? Math.min(wish, MAX_RETRY_AFTER_MS) : 0;
    notes.restsUntil = this.#now() + Math.max(rest, wished);
    if (this.#current === endpoint.url.reveal()) this.#current = undefined;
  }

  /** Switches to another endpoint. */
  prefer(endpoint: Endpoint): void {
    this.#current = endpoint.url.reveal();
  }

  /** Records whether an endpoint is behind the cursor. Returns for how long it has been; 0 if it is not. */
  noteBehind(endpoint: Endpoint, isBehind: boolean): number {
    const notes = this.#of(endpoint);
    if (!isBehind) {
      delete notes.behindSince;
      return 0;
    }
    notes.behindSince ??= this.#now();
    return this.#now() - notes.behindSince;
  }

  /** Returns whether an endpoint is known not to support a method. */
  lacks(endpoint: Endpoint, method: OptionalMethod): boolean {
    const missing = this.#notes.get(endpoint.url.reveal())?.missing.get(method);
    return missing !== undefined && missing.failures >= REFUSALS && missing.until > this.#now();
  }

  /** Returns whether an endpoint is known not to trace blocks. */
  lacksTraces(endpoint: Endpoint): boolean {
    return BLOCK_TRACE_METHODS.every((method) => this.lacks(endpoint, method));
  }

  /** Records that an endpoint supports a method. */
  noteMethod(endpoint: Endpoint, method: OptionalMethod): void {
    this.#of(endpoint).missing.delete(method);
  }

  /**
   * Records that an endpoint refused a method. One refusal is enough if the error says that the method is
   * unknown. A response that is too large proves that the method exists.
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
