import { LRUCache } from 'lru-cache';
import { FetchFault } from './fetch-fault.ts';

/** When a host is left alone, and for how long. */
export interface CircuitBreakerOptions {
  /** Failures in a row after which the host rests. */
  readonly failures: number;
  /** The first rest; each further failure doubles it. Milliseconds. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A host's own wish (`Retry-After`) is honoured up to this long. Milliseconds. */
  readonly maxRetryAfterMs: number;
  /** The clock in milliseconds, and numbers from 0 to 1: given by tests. */
  readonly now: () => number;
  readonly random: () => number;
}

const DEFAULT_BREAKER: CircuitBreakerOptions = {
  failures: 5,
  backoffMs: 1000,
  maxBackoffMs: 60_000,
  maxRetryAfterMs: 600_000,
  now: Date.now,
  random: Math.random,
};

/** How a request to a host ended; `abandoned`: by us, so that it says nothing about the host. */
export type Outcome = 'succeeded' | 'failed' | 'throttled' | 'abandoned';

/** Reports how one request ended, with the host's `Retry-After` where it is throttled. Only the first report counts. */
export type Report = (outcome: Outcome, retryAfterMs?: number) => void;

/** What the head of a response says about its host: overload and failure count against it, a 4xx does not. */
export function outcomeOf(status: number, retryAfterMs: number | undefined): Outcome {
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return 'throttled';
  return status >= 500 ? 'failed' : 'succeeded';
}

interface HostState {
  failures: number;
  /** Nobody asks the host before this time. */
  restsUntil: number;
  reason: 'circuit_open' | 'throttled';
  /** After a rest one request goes first; the others wait for its end. */
  trying: boolean;
}

/** The names of hosts come from outside, so their number has a bound. */
const MAX_HOSTS = 5000;

/**
 * Rests hosts that fail: after some failures in a row nobody asks them for a while, then one request tries, and its
 * outcome decides for all.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #hosts = new LRUCache<string, HostState>({ max: MAX_HOSTS });

  constructor(options: Partial<CircuitBreakerOptions> = {}) {
    this.#options = { ...DEFAULT_BREAKER, ...options };
  }

  /**
   * Begins a request to a host (`scheme://host:port`). A `probe` may also begin while the host rests after failures,
   * since it asks whether they are over; a host that asked to be left alone is left alone by all.
   * @throws FetchFault circuit_open or throttled while the host rests, with `retryAfterMs`.
   */
  enter(origin: string, probe = false): Report {
    const trial = this.#admit(origin, probe);
    let ended = false;
    return (outcome, retryAfterMs) => {
      if (ended) return;
      ended = true;
      const state = this.#state(origin);
      if (trial) state.trying = false;
      if (outcome === 'failed') this.#fail(state);
      else if (outcome === 'throttled') this.#throttle(state, retryAfterMs);
      else if (outcome === 'succeeded' || state.failures === 0) this.#hosts.delete(origin);
    };
  }

  /** Lets a request through, or throws; true when it is the one that tries a host after its rest. */
  #admit(origin: string, probe: boolean): boolean {
    const state = this.#hosts.get(origin);
    if (state === undefined || !this.#rests(state)) return false;
    if (probe && state.reason === 'circuit_open') return false;
    const retryAfterMs = Math.max(0, state.restsUntil - this.#options.now());
    if (retryAfterMs === 0 && !state.trying) {
      state.trying = true;
      return true;
    }
    const why = state.reason === 'throttled' ? 'asked to be left alone' : 'failed often and rests';
    throw new FetchFault(
      state.reason,
      `${origin} ${why}; ask again in ${Math.ceil(retryAfterMs / 1000)} s.`,
      { origin, retryAfterMs },
    );
  }

  /** Whether the state is one in which the host is left alone, or was until its rest ended. */
  #rests(state: HostState): boolean {
    return state.reason === 'throttled' || state.failures >= this.#options.failures;
  }

  #state(origin: string): HostState {
    const known = this.#hosts.get(origin);
    if (known !== undefined) return known;
    const state: HostState = { failures: 0, restsUntil: 0, reason: 'circuit_open', trying: false };
    this.#hosts.set(origin, state);
    return state;
  }

  #fail(state: HostState): void {
    const now = this.#options.now();
    // Requests that were under way when the rest began tell nothing new.
    if (state.restsUntil > now) return;
    state.failures += 1;
    state.reason = 'circuit_open';
    if (this.#rests(state)) state.restsUntil = now + this.#backoff(state);
  }

  #throttle(state: HostState, retryAfterMs: number | undefined): void {
    const now = this.#options.now();
    state.failures += 1;
    state.reason = 'throttled';
    const wish = Math.min(retryAfterMs ?? 0, this.#options.maxRetryAfterMs);
    state.restsUntil = Math.max(state.restsUntil, now + (wish > 0 ? wish : this.#backoff(state)));
  }

  /** Doubles with each failure; the jitter (half to whole) keeps replicas from coming back at once. */
  #backoff(state: HostState): number {
    const { failures, backoffMs, maxBackoffMs, random } = this.#options;
    const doublings = Math.min(Math.max(0, state.failures - failures), 30);
    return Math.min(backoffMs * 2 ** doublings, maxBackoffMs) * (0.5 + random() / 2);
  }
}
