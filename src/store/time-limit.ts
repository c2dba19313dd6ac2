import { type Circuit, databaseNotResponding } from './circuit.ts';
import { type ConnectionTarget } from './connection-target.ts';

/**
 * Deadline of one use of the database. After an eighth of it the circuit checks whether the database responds at
 * all; if it does not, all waiting callers fail then.
 */
export class TimeLimit {
  readonly #over: Promise<never>;
  readonly #hung: AbortSignal;
  readonly #onHung: () => void;
  readonly #timers: readonly NodeJS.Timeout[];
  #isOver = false;

  /** @throws FullmatchError `database_unreachable` while the database is known to hang */
  constructor(timeLimitMs: number, target: ConnectionTarget, circuit: Circuit) {
    if (circuit.openSince !== undefined) throw databaseNotResponding(target);
    const { promise, reject } = withReject();
    // No one may wait after the deadline.
    promise.catch(() => undefined);
    this.#over = promise;
    const fail = (): void => {
      this.#isOver = true;
      reject(databaseNotResponding(target));
    };
    this.#hung = circuit.hung;
    this.#onHung = fail;
    this.#hung.addEventListener('abort', fail, { once: true });
    this.#timers = [
      setTimeout(() => void circuit.suspect(), timeLimitMs / 8),
      setTimeout(fail, timeLimitMs),
    ];
  }

  /** Whether the time has run out. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The result of the work, or `database_unreachable` at the deadline. */
  race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([work, this.#over]);
  }

  /** Nothing further happens after the deadline. */
  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#hung.removeEventListener('abort', this.#onHung);
  }
}

function withReject(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, rejectWith) => (reject = rejectWith));
  return { promise, reject };
}
