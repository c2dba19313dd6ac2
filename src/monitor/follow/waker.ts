/** Lets a loop wait for a timeout, a call of {@link wake} or an abort, whichever comes first. */
export class Waker {
  #isWoken = false;
  #end: (() => void) | undefined;

  /** Ends the current wait, or the next one if none is in progress. */
  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isWoken || signal.aborted) {
      this.#isWoken = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), ms);
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.#end = undefined;
        resolve();
      };
      this.#end = end;
      signal.addEventListener('abort', end, { once: true });
    });
    this.#isWoken = false;
  }
}
