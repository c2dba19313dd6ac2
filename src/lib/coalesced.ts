/**
 * Coalesces requests for a piece of work: one run at a time, and all requests during a run are served by a
 * single run after it.
 */
export class CoalescedRunner {
  readonly #run: () => Promise<void>;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param run must not reject */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  /** Starts a run, or schedules one more after the current run. */
  ask(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined));
  }

  /** Prevents further runs; resolves when the current one has ended. */
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
