import { countedCache } from './counted-cache.ts';
import { FetchFault } from './fetch-fault.ts';

/** When the circuit of a host opens, and for how long. */
export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit. */
  readonly failures: number;
  /** First back-off in milliseconds; doubles with each further failure. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** Maximum `Retry-After` of a host that is honored, in milliseconds. */
  readonly maxRetryAfterMs: number;
  /** Clock in milliseconds, and random numbers from 0 to 1; replaced in tests. */
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

/** Outcome of a request to a host. `abandoned`: ended by this service, so it says nothing about the host. */
export type Outcome = 'succeeded' | 'failed' | 'throttled' | 'abandoned';

/**
 * Reports the outcome of a request, with the host's `Retry-After` if it was throttled. Only the first report
 * counts.
 */
export type Report = (outcome: Outcome, retryAfterMs?: number) => void;

/** Returns what a response says about its host: overload and server errors count against it, a 4xx does not. */
export function outcomeOf(status: number, retryAfterMs: number | undefined): Outcome {
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return 'throttled';
  return status >= 500 ? 'failed' : 'succeeded';
}

interface HostState {
  failures: number;
  /** No requests before this time. */
  restsUntil: number;
  reason: 'circuit_open' | 'throttled';
  /** After the back-off, a single trial request is made; the others wait for its outcome. */
  trying: boolean;
}

/** Limited, since host names come from outside. */
const MAX_HOSTS = 5000;

/**
 * Circuit breaker per host: after several consecutive failures no requests are made for a while; then a
 * single trial request decides whether the circuit closes.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #hosts = countedCache<HostState>(MAX_HOSTS);

  constructor(options: Partial<CircuitBreakerOptions> = {}) {
    this.#options = { ...DEFAULT_BREAKER, ...options };
  }

  /**
   * Starts a request to a host (`scheme://host:port`). A `probe` is also allowed while the circuit is open
   * after failures, since it checks whether they are over; a host that sent `Retry-After` gets no requests at
   * all.
   * @throws FetchFault circuit_open or throttled during the back-off, with `retryAfterMs`.
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

  /** Admits a request, or throws; returns true for the trial request after a back-off. */
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

  /** Returns whether the circuit is open, or was until its back-off ended. */
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
    // Failures of requests that were already running when the circuit opened do not count.
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

  /**
   * Returns the back-off: it doubles with each failure, with a jitter of half to whole so that replicas do
   * not retry in sync.
   */
  #backoff(state: HostState): number {
    const { failures, backoffMs, maxBackoffMs, random } = this.#options;
    const doublings = Math.min(Math.max(0, state.failures - failures), 30);
    return Math.min(backoffMs * 2 ** doublings, maxBackoffMs) * (0.5 + random() / 2);
  }
}
