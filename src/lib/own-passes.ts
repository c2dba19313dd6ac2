/**
 * Passes of the event loop for work that takes its thread for milliseconds: each is given to one asker, so that
 * everything else comes between two pieces of such work.
 */
export class OwnPasses {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a pass of the event loop in which it resolves for nobody else. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
