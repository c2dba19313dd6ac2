interface Part {
  close(): Promise<void>;
}

/** Open parts in the order of opening; they are closed in reverse order. */
export class Closers {
  readonly #parts: Part[] = [];
  readonly #first: Part[] = [];

  /** Adds a part to be closed after all parts added later. */
  add<T extends Part>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /**
   * Adds a part to be closed before all others, together with the other first parts: listeners, so that their
   * dependencies outlive the last request, and anything that requests wait for.
   */
  addFirst<T extends Part>(part: T): T {
    this.#first.push(part);
    return part;
  }

  /**
   * Closes all parts, even if some fail.
   * @throws the error of a part; an AggregateError if several parts fail
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
