/**
 * Work that may be asked for more often than it can be done. One run goes at a time; what is asked for during a run is
 * covered by one more run after it.
 */
export class Coalesced {
  readonly #run: () => Promise<void>;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param run must not reject */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  /** Begins a run, or makes one more follow the run under way. */
  ask(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined));
  }

  /** Begins no more runs; resolves when the one under way has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #runAll(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      await this.#run();
    }
  }
}
