interface Part {
  close(): Promise<void>;
}

/** What is open, in the order of opening; it is closed in the reverse order. */
export class Closers {
  readonly #parts: Part[] = [];
  readonly #first: Part[] = [];

  /** Adds a part that is closed after all that was opened later. */
  add<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /**
   * Adds what is closed together before everything else: listeners, so that what they serve outlives their last
   * request, and what requests wait for.
   */
  addFirst<T extends Part>(part: T): T {
    this.#first.push(part);
    return part;
  }

  /**
   * Closes everything. What cannot be closed keeps nothing else open.
   * @throws the error of a part; AggregateError with all of them where several parts fail
   */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    const settle = async (parts: readonly Part[]): Promise<void> => {
      const closing = parts.map(async (part) => part.close());
      for (const result of await Promise.allSettled(closing)) {
        if (result.status === 'rejected') errors.push(result.reason);
      }
    };
    await settle(this.#first);
    for (const part of this.#parts.toReversed()) await settle([part]);
    if (errors.length > 1) throw new AggregateError(errors, 'several parts could not be closed');
    if (errors.length === 1) throw errors[0];
  }
}
