import { setImmediate as endOfPass } from 'node:timers/promises';

/**
 * Readings that are shared by all who ask for the same within one pass of the event loop. A reading begins at the end of
 * its pass, so that everybody gets what was read after asking.
 */
export class SharedReads<T> {
  readonly #asked = new Map<string, Promise<T>>();

  /** Reads what a key names. @throws what `read` throws, the same for all who share it */
  ask(key: string, read: () => Promise<T>): Promise<T> {
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const reading = endOfPass().then(() => {
      this.#asked.delete(key);
      return read();
    });
    this.#asked.set(key, reading);
    return reading;
  }
}
