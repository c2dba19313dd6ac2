const PERIOD_MS = 10_000;

/** Says something that may happen very often: the first time at once, and what follows together, once in ten seconds. */
export class CountedLine {
  readonly #say: (count: number) => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (count: number) => void) {
    this.#say = say;
  }

  /** Counts one more. */
  count(): void {
    this.#count += 1;
    if (this.#timer === undefined) this.#sayCount();
  }

  /** Says nothing more. */
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
