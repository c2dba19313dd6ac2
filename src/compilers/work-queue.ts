/** Runs a limited number of tasks at once; the others wait in order. */
export class WorkQueue {
  readonly #workers: number;
  #running = 0;
  #waiting: { readonly begin: () => void; readonly refuse: (reason: unknown) => void }[] = [];
  #closedBy: { readonly reason: unknown } | undefined;

  constructor(workers: number) {
    this.#workers = workers;
  }

  /** Runs the task when its turn comes. Rejects with the signal's reason if that comes first. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(signal);
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.begin();
    }
  }

  /** Returns the numbers of running and waiting tasks. */
  describe(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length };
  }

  /** Rejects waiting and all later tasks with the reason; running tasks continue. */
  close(reason: unknown): void {
    this.#closedBy ??= { reason };
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { refuse } of waiting) refuse(reason);
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (reason: unknown): void => {
        // The reason is given by the caller.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(reason);
      };
      if (this.#closedBy !== undefined) {
        refuse(this.#closedBy.reason);
        return;
      }
      if (signal?.aborted === true) {
        refuse(signal.reason);
        return;
      }
      if (this.#running < this.#workers) {
        this.#running += 1;
        resolve();
        return;
      }
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== entry);
        refuse(signal?.reason);
      };
      const entry = {
        begin: () => {
          signal?.removeEventListener('abort', leave);
          this.#running += 1;
          resolve();
        },
        refuse,
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(entry);
    });
  }
}
