const PERIOD_MS = 10_000;

/**
 * Rate-limits a message that may occur very often: the first occurrence is reported immediately, those that
 * follow once every ten seconds with their count.
 */
export class RateLimitedReport {
  readonly #say: (count: number) => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (count: number) => void) {
    this.#say = say;
  }

  /** Counts an occurrence. */
  count(): void {
    this.#count += 1;
    if (this.#timer === undefined) this.#sayCount();
  }

  /** Stops reporting. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #sayCount(): void {
    this.#say(this.#count);
    this.#count = 0;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#count > 0) this.#sayCount();
    }, PERIOD_MS).unref();
  }
}
