import { type Listener } from '../http/listener.ts';

/** What is open, in the order of opening; it is closed in the reverse order. */
export class Opened {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #first: (() => Promise<void>)[] = [];
  readonly #listeners: Listener[] = [];

  add<T extends { close(): Promise<void> }>(part: T): T {
    this.#closers.push(() => part.close());
    return part;
  }

  /** What has to end at once, also while requests still wait for it. */
  addFirst<T extends { close(): Promise<void> }>(part: T): T {
    this.#first.push(() => part.close());
    return part;
  }

  addListener(listener: Listener): Listener {
    this.#listeners.push(listener);
    return listener;
  }

  /** First all listeners, so that what they serve outlives their last request. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([
      ...this.#first.map((end) => end()),
      ...this.#listeners.map((listener) => listener.close(timeoutMs)),
    ]);
    for (const close of this.#closers.reverse()) await close();
  }
}
