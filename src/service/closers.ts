import { type Listener } from '../http/listener.ts';

interface Part {
  close(): Promise<void>;
}

/** What is open, in the order of opening; it is closed in the reverse order. */
export class Closers {
  readonly #parts: Part[] = [];
  readonly #first: Part[] = [];
  readonly #listeners: Listener[] = [];

  /** Adds a part that is closed after all that was opened later. */
  add<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** Adds what has to end at once, also while requests still wait for it. */
  addFirst<T extends Part>(part: T): T {
    this.#first.push(part);
    return part;
  }

  addListener(listener: Listener): Listener {
    this.#listeners.push(listener);
    return listener;
  }

  /**
   * Closes everything: first all listeners, so that what they serve outlives their last request. What cannot be closed
   * keeps nothing else open.
   * @throws the error of a part; AggregateError with all of them where several parts fail
   */
  async close(timeoutMs: number): Promise<void> {
    const errors: unknown[] = [];
    const settle = async (closing: readonly Promise<void>[]): Promise<void> => {
      for (const result of await Promise.allSettled(closing)) {
        if (result.status === 'rejected') errors.push(result.reason);
      }
    };
    await settle([
      ...this.#first.map(async (part) => part.close()),
      ...this.#listeners.map(async (listener) => listener.close(timeoutMs)),
    ]);
    for (const part of this.#parts.toReversed()) await settle([(async () => part.close())()]);
    if (errors.length > 1) throw new AggregateError(errors, 'several parts could not be closed');
    if (errors.length === 1) throw errors[0];
  }
}
