const DAY_MS = 86_400_000;

/** Requests of an ordinary probe: the chain id and the newest block. */
export const REQUESTS_PER_PROBE = 2;

/** Inputs that decide when an endpoint is probed again. */
export interface SpacingInput {
  readonly everyMs: number;
  /** Daily request budget of a host. */
  readonly dailyBudget: number;
  /** Number of probed endpoints that share the host. */
  readonly endpointsOfHost: number;
  /** Whether consecutive verdicts are being counted; the endpoint is then probed sooner. */
  readonly undecided: boolean;
  /** From 0 to 1. */
  readonly chance: number;
}

/**
 * Milliseconds until the next probe: as configured, or longer so that the host's budget lasts the whole day;
 * a quarter of it while the state is undecided; with a random quarter more or less, so that replicas and
 * endpoints spread.
 */
export function spacingMs(input: SpacingInput): number {
  const { everyMs, dailyBudget, endpointsOfHost, undecided, chance } = input;
  const affordable = (DAY_MS * REQUESTS_PER_PROBE * Math.max(1, endpointsOfHost)) / dailyBudget;
  const even = Math.max(everyMs, affordable);
  return (undecided ? even / 4 : even) * (0.75 + chance / 2);
}

/** Counts the requests to each host; a day is a UTC day. */
export class DailyBudget {
  readonly #limit: number;
  readonly #spent = new Map<string, number>();
  #day = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes one request of a host's budget; returns false if none is left. */
  take(host: string, now: number): boolean {
    const spent = this.#spentOf(host, now);
    if (spent >= this.#limit) return false;
    this.#spent.set(host, spent + 1);
    return true;
  }

  /** Remaining requests to a host today. */
  left(host: string, now: number): number {
    return this.#limit - this.#spentOf(host, now);
  }

  #spentOf(host: string, now: number): number {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) this.#spent.clear();
    this.#day = day;
    return this.#spent.get(host) ?? 0;
  }
}

/** Milliseconds until the budgets are reset. */
export function untilNextDay(now: number): number {
  return DAY_MS - (now % DAY_MS);
}
