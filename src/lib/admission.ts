/** Why work was not admitted: the queue is full, the client's part of it is, or the wait timed out. */
export type Refusal = 'full' | 'client_full' | 'waited_too_long';

/** Thrown for work that was not admitted, unless the caller's own error replaces it. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`not admitted: ${refusal}`);
    this.refusal = refusal;
  }
}

/** Limits on running and waiting work. */
export interface AdmissionLimits {
  readonly total: number;
  /** Limit on the running work of one client; `total` if absent. */
  readonly perClient?: number;
  /** Limit on waiting work; none may wait if absent. */
  readonly waiting?: number;
  readonly waitingPerClient?: number;
  /** Maximum wait in milliseconds; unlimited if absent. */
  readonly waitMs?: number;
}

/** Gives a place back. Repeated calls have no effect. */
export type Leave = () => void;

interface Waiter {
  readonly admit: () => void;
}

/**
 * Limits the work of many clients: how much runs at once, how much waits, and the share of each client. A
 * free place goes to the waiting clients in turn. Admitted work is never displaced.
 */
export class Admission {
  readonly #limits: Required<AdmissionLimits>;
  readonly #toError: (refusal: Refusal) => Error;
  /** Waiting work by client, in the order of the next admissions. */
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #runningOf = new Map<string, number>();
  #running = 0;
  #waiting = 0;

  /** @param toError creates the error for work that is not admitted; by default {@link NotAdmitted} */
  constructor(
    limits: AdmissionLimits,
    toError: (refusal: Refusal) => Error = (refusal) => new NotAdmitted(refusal),
  ) {
    this.#toError = toError;
    const { total, waiting = 0 } = limits;
    this.#limits = {
      ...{ perClient: total, waiting, waitingPerClient: waiting, waitMs: Infinity },
      ...limits,
    };
  }

  /** Amount of running work. */
  get running(): number {
    return this.#running;
  }

  /** Amount of waiting work. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs a client's work once it is admitted. Work that is still waiting when `signal` aborts is dropped.
   * @param client any text that identifies the client, see `clientOf`
   * @throws the error for work that is not admitted; the reason of `signal`; what the work throws
   */
  async run<T>(client: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.enter(client, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Takes a place, waiting for one if necessary.
   * @throws the error for work that is not admitted; the reason of `signal`
   */
  async enter(client: string, signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    if (!this.#hasPlace(client)) await this.#wait(client, signal);
    else this.#count(client, 1);
    return this.#leaver(client);
  }

  /**
   * Takes a place without waiting.
   * @throws the error for work that is not admitted, if none is free
   */
  enterNow(client: string): Leave {
    if (this.#running >= this.#limits.total) throw this.#toError('full');
    if (!this.#hasPlace(client)) throw this.#toError('client_full');
    this.#count(client, 1);
    return this.#leaver(client);
  }

  #hasPlace(client: string): boolean {
    return this.#running < this.#limits.total && this.#isBelowShare(client);
  }

  #isBelowShare(client: string): boolean {
    return (this.#runningOf.get(client) ?? 0) < this.#limits.perClient;
  }

  #count(client: string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningOf.get(client) ?? 0) + change;
    if (running > 0) this.#runningOf.set(client, running);
    else this.#runningOf.delete(client);
  }

  #leaver(client: string): Leave {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#count(client, -1);
      this.#admitNext();
    };
  }

  #wait(client: string, signal: AbortSignal | undefined): Promise<void> {
    const { waiting, waitingPerClient, waitMs } = this.#limits;
    if (this.#waiting >= waiting) throw this.#toError('full');
    const own = this.#waiters.get(client) ?? new Set<Waiter>();
    if (own.size >= waitingPerClient) throw this.#toError('client_full');
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', drop);
        this.#remove(client, waiter);
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      const drop = (): void => fail(signal?.reason as Error);
      const waiter: Waiter = {
        admit: () => {
          end();
          this.#count(client, 1);
          resolve();
        },
      };
      const timer = Number.isFinite(waitMs)
        ? setTimeout(() => fail(this.#toError('waited_too_long')), waitMs)
        : undefined;
      timer?.unref();
      signal?.addEventListener('abort', drop, { once: true });
      this.#waiters.set(client, own.add(waiter));
      this.#waiting += 1;
    });
  }

  #remove(client: string, waiter: Waiter): void {
    const own = this.#waiters.get(client);
    if (own?.delete(waiter) !== true) return;
    this.#waiting -= 1;
    if (own.size === 0) this.#waiters.delete(client);
  }

  #admitNext(): void {
    if (this.#running >= this.#limits.total) return;
    for (const [client, own] of this.#waiters) {
      if (!this.#isBelowShare(client)) continue;
      // Moves the client behind all others.
      this.#waiters.delete(client);
      this.#waiters.set(client, own);
      const [first] = own;
      first?.admit();
      return;
    }
  }
}
