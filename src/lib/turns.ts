import { OwnPasses } from './own-passes.ts';

const TURN_MS = 5;
/** Whoever shares turns is one asker: each of its works has a pass of the event loop of its own. */
const ASKER = 'work';

/**
 * Long work on the thread that serves: after some milliseconds everybody else has a turn. Works that go on beside each
 * other share the turns, so that together they take no longer than one alone.
 */
export class Turns {
  readonly #passes = new OwnPasses();
  /** Works that begin at once take their first turns one after the other. */
  #began = -Infinity;

  async give(): Promise<void> {
    if (performance.now() - this.#began < TURN_MS) return;
    await this.#passes.next(ASKER);
    this.#began = performance.now();
  }
}
