import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much memory outside of the heap may be left before it is worth a pause, in bytes. */
const WORTH_BYTES = 64 * 2 ** 20;
/** How long nothing may have come before the pause, in milliseconds. */
const QUIET_MS = 1_000;

/**
 * Gives back the memory of large buffers that nobody holds any more. V8 collects them according to how much is allocated, so what a
 * flood left would stay for as long as the quiet after it lasts. A collection pauses the thread for some ten
 * milliseconds.
 */
export class LeftBuffers {
  #timer: NodeJS.Timeout | undefined;
  /** The bytes of buffers after the last collection: those are held. */
  #held = 0;

  /** Says that buffers were let go of. Collects when none has been for a while, where it is worth it. */
  tell(): void {
    if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#collect(), QUIET_MS);
      this.#timer.unref();
    } else this.#timer.refresh();
  }

  #collect(): void {
    this.#timer = undefined;
    const { arrayBuffers } = process.memoryUsage();
    this.#held = Math.min(this.#held, arrayBuffers);
    if (arrayBuffers - this.#held < WORTH_BYTES) return;
    collectGarbage();
    this.#held = process.memoryUsage().arrayBuffers;
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
