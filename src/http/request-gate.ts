/** Lets requests pass, or holds them back while a port closes. */
export class RequestGate {
  #held: (() => void)[] | undefined;
  #arrivals = 0;

  /** The number of connections and requests that have come. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** Whether requests pass. */
  get isOpen(): boolean {
    return this.#held === undefined;
  }

  /** Counts a connection or a request. */
  count(): void {
    this.#arrivals += 1;
  }

  /** Answers a request now, or when the gate opens. */
  pass(answer: () => void): void {
    if (this.#held === undefined) answer();
    else this.#held.push(answer);
  }

  /** Holds back the requests that come from now on. */
  shut(): void {
    this.#held ??= [];
  }

  /** Lets go what was held back, in its order. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }
}
