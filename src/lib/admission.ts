/** Why work was not admitted: too much waits in all, too much of its client does, or it waited for too long. */
export type Refusal = 'full' | 'client_full' | 'waited_too_long';

/** Work that was refused a place. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`not admitted: ${refusal}`);
    this.refusal = refusal;
  }
}

/** How much work runs at once, and how much may wait for that. */
export interface AdmissionLimits {
  readonly total: number;
  /** Of one client at once; as many as of all where it is absent. */
  readonly perClient?: number;
  /** How much may wait; nothing where it is absent. */
  readonly waiting?: number;
  readonly waitingPerClient?: number;
  /** How long it may wait, in milliseconds; any time where it is absent. */
  readonly waitMs?: number;
}

/** Gives a place back; once is enough, and twice does no harm. */
export type Leave = () => void;

interface Waiter {
  readonly admit: () => void;
}

/**
 * Bounds work that many clients ask for: so much at once, so much waiting, and no client takes all. A place that becomes
 * free goes to the clients in turn. Nobody who was admitted loses the place to somebody else.
 */
export class Admission {
  readonly #limits: Required<AdmissionLimits>;
  /** By client, in the order in which they are admitted next. */
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #runningOf = new Map<string, number>();
  #running = 0;
  #waiting = 0;

  constructor(limits: AdmissionLimits) {
    const { total, waiting = 0 } = limits;
    this.#limits = {
      ...{ perClient: total, waiting, waitingPerClient: waiting, waitMs: Infinity },
      ...limits,
    };
  }

  /** How much runs now. */
  get running(): number {
    return this.#running;
  }

  /** How much waits now. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs a client's work once it is admitted. Work that still waits when `signal` fires is dropped.
   * @param client any text that tells clients apart, see `clientOf`
   * @throws NotAdmitted; the reason of `signal`; what the work throws
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

  /** Takes a place, and waits for one. @throws NotAdmitted; the reason of `signal` */
  async enter(client: string, signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    if (!this.#hasPlace(client)) await this.#wait(client, signal);
    else this.#count(client, 1);
    return this.#leaver(client);
  }

  /** Takes a place now. @throws NotAdmitted where there is none */
  enterNow(client: string): Leave {
    if (this.#running >= this.#limits.total) throw new NotAdmitted('full');
    if (!this.#hasPlace(client)) throw new NotAdmitted('client_full');
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
    if (this.#waiting >= waiting) throw new NotAdmitted('full');
    const own = this.#waiters.get(client) ?? new Set<Waiter>();
    if (own.size >= waitingPerClient) throw new NotAdmitted('client_full');
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
        ? setTimeout(() => fail(new NotAdmitted('waited_too_long')), waitMs)
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
      // Its next one comes after all others.
      this.#waiters.delete(client);
      this.#waiters.set(client, own);
      const [first] = own;
      first?.admit();
      return;
    }
  }
}
