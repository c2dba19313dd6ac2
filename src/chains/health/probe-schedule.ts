const DAY_MS = 86_400_000;

/** Requests of one ordinary probe: the chain id and the newest block. */
export const REQUESTS_PER_PROBE = 2;

/** What decides when an endpoint is probed again. */
export interface SpacingInput {
  readonly everyMs: number;
  /** Requests that one host may be sent in a day. */
  readonly dailyBudget: number;
  /** How many probed endpoints share the host. */
  readonly endpointsOfHost: number;
  /** Whether verdicts are being counted that may change the state: it is settled sooner. */
  readonly undecided: boolean;
  /** From 0 to 1. */
  readonly chance: number;
}

/**
 * Milliseconds until the next probe: as configured, or longer so that the host's budget lasts the whole day; a quarter
 * of it while the state is undecided; and a quarter more or less by chance, so that replicas and endpoints spread.
 */
export function spacingMs(input: SpacingInput): number {
  const { everyMs, dailyBudget, endpointsOfHost, undecided, chance } = input;
  const affordable = (DAY_MS * REQUESTS_PER_PROBE * Math.max(1, endpointsOfHost)) / dailyBudget;
  const even = Math.max(everyMs, affordable);
  return (undecided ? even / 4 : even) * (0.75 + chance / 2);
}

/** Counts the requests to each host; a day is one of UTC. */
export class DailyBudget {
  readonly #limit: number;
  readonly #spent = new Map<string, number>();
  #day = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes one request of a host, or says that none is left. */
  take(host: string, now: number): boolean {
    const spent = this.#spentOf(host, now);
    if (spent >= this.#limit) return false;
    this.#spent.set(host, spent + 1);
    return true;
  }

  /** How many requests a host may still be sent today. */
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

/** Milliseconds until the budgets begin again. */
export function untilNextDay(now: number): number {
  return DAY_MS - (now % DAY_MS);
}
