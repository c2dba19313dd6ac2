/** Work of many clients of which a few pieces run at once; clients take turns. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** How many pieces wait. */
  get waiting(): number {
    return this.#waitingCount;
  }

  /** Runs a client's work in its turn. */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await this.#wait(client);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(client: string): Promise<void> {
    return new Promise((resolve) => {
      const ofClient = this.#waiting.get(client);
      if (ofClient === undefined) this.#waiting.set(client, [resolve]);
      else ofClient.push(resolve);
      this.#waitingCount += 1;
    });
  }

  /** Hands the place of a piece that ended to the next client. */
  #next(): void {
    const first = this.#waiting.entries().next().value;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [client, pieces] = first;
    this.#waiting.delete(client);
    const start = pieces.shift();
    if (pieces.length > 0) this.#waiting.set(client, pieces);
    this.#waitingCount -= 1;
    start?.();
  }
}
