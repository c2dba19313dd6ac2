import { type Circuit, notAnswering } from './circuit.ts';
import { type ConnectionTarget } from './connection-target.ts';

/**
 * The time that one use of the database may take. After half of it the circuit looks whether the database answers at
 * all; where it does not, everybody who waits fails then.
 */
export class TimeLimit {
  readonly #over: Promise<never>;
  readonly #hung: AbortSignal;
  readonly #onHung: () => void;
  readonly #timers: readonly NodeJS.Timeout[];
  #isOver = false;

  /** @throws FullmatchError `database_unreachable` while the database is known to hang */
  constructor(timeLimitMs: number, target: ConnectionTarget, circuit: Circuit) {
    if (circuit.openSince !== undefined) throw notAnswering(target);
    const { promise, reject } = withReject();
    // Nobody may wait when it is over.
    promise.catch(() => undefined);
    this.#over = promise;
    const fail = (): void => {
      this.#isOver = true;
      reject(notAnswering(target));
    };
    this.#hung = circuit.hung;
    this.#onHung = fail;
    this.#hung.addEventListener('abort', fail, { once: true });
    this.#timers = [
      setTimeout(() => void circuit.suspect(), timeLimitMs / 2),
      setTimeout(fail, timeLimitMs),
    ];
  }

  /** Whether the time ran out. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The work's outcome, or `database_unreachable` when the time is over before. */
  race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([work, this.#over]);
  }

  /** Nothing happens any more when the time is over. */
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
