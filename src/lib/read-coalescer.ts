import { setImmediate as endOfPass } from 'node:timers/promises';

/**
 * Shares reads of the same key within one turn of the event loop. A read starts at the end of its turn, so
 * that its result is never older than the call.
 */
export class ReadCoalescer<T> {
  readonly #pending = new Map<string, Promise<T>>();

  /**
   * Reads a key.
   * @throws what `read` throws, shared by all callers
   */
  ask(key: string, read: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const reading = endOfPass().then(() => {
      this.#pending.delete(key);
      return read();
    });
    this.#pending.set(key, reading);
    return reading;
  }
}
