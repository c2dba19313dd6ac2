import { setImmediate as untilNextTurn } from 'node:timers/promises';

const WORK_MS = 5;

/** Pauses of long work on the thread that serves: after some milliseconds, everything else of the event loop runs. */
export class Pauses {
  #begun = performance.now();

  /** Pauses where the work has gone on for long enough. */
  async take(): Promise<void> {
    if (performance.now() - this.#begun < WORK_MS) return;
    await untilNextTurn();
    this.#begun = performance.now();
  }
}
