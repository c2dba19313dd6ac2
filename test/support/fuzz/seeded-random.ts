/** Pseudorandom numbers, the same for the same seed. */
export class SeededRandom {
  #state: number;

  /** @param seeds integers; each combination gives its own sequence */
  constructor(...seeds: readonly number[]) {
    // FNV-1a over the seeds, so that neighbouring seeds are unrelated.
    this.#state = 0x811c9dc5;
    for (const seed of seeds) {
      for (let shift = 0; shift < 32; shift += 8) {
        this.#state = Math.imul(this.#state ^ ((seed >>> shift) & 0xff), 0x01000193);
      }
    }
  }

  /** Returns a number from 0 to less than 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns true with this probability. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  pick<Value>(values: readonly Value[]): Value | undefined;
  pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.below(values.length)];
  }

  /** Returns random bytes. */
  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
