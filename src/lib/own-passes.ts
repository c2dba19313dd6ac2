import { NetworkTurns } from './network-turns.ts';

/**
 * Passes of the event loop for work that takes its thread for long: each is given to one asker, so that everything else
 * comes between two pieces of such work. Networks take turns, so one that asks for many delays no other.
 */
export class OwnPasses {
  readonly #waiting = new NetworkTurns<() => void>();
  #isRunning = false;

  /** Resolves in a pass of the event loop in which it resolves for nobody else. */
  next(client: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(client, resolve);
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => this.#pass());
    });
  }

  #pass(): void {
    this.#waiting.next()?.();
    this.#isRunning = !this.#waiting.isEmpty;
    if (this.#isRunning) setImmediate(() => this.#pass());
  }
}
