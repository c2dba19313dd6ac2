import { setImmediate as untilNextTurn } from 'node:timers/promises';

const WORK_MS = 5;

/** Lets long work on the main thread yield to the event loop every few milliseconds. */
export class EventLoopYielder {
  #begun = performance.now();

  /** Yields if the work has run for long enough. */
  async take(): Promise<void> {
    if (performance.now() - this.#begun < WORK_MS) return;
    await untilNextTurn();
    this.#begun = performance.now();
  }
}
