/** Number of entries by outcome. */
export interface ImportCounts {
  readonly stored: number;
  readonly upgraded: number;
  /** Already stored with an equal or better match. */
  readonly unchanged: number;
  /** The tree claims full, and this service verified a partial match, which stays. */
  readonly kept: number;
  readonly refused: number;
}

/** Progress of an import, and its rate. */
export interface ImportProgress extends ImportCounts {
  /** Entries stored, skipped or refused. */
  readonly done: number;
  /** Total entries; absent until they are counted. */
  readonly total?: number;
  /** Entries a second over the last half minute. */
  readonly entriesPerSecond: number;
  /** Absent until entries are counted and the rate is known. */
  readonly secondsLeft?: number;
}

const WINDOW_MS = 30_000;
const SAMPLE_MS = 500;

/** Rate over a sliding window. A resumed import skips entries fast at first, which must not promise an early end. */
export class RateMeter {
  readonly #samples: { at: number; count: number }[];

  constructor(nowMs: number) {
    this.#samples = [{ at: nowMs, count: 0 }];
  }

  /** Entries a second from the oldest sample in the window until now. */
  perSecond(nowMs: number, count: number): number {
    const last = this.#samples.at(-1);
    if (last !== undefined && nowMs - last.at >= SAMPLE_MS)
      this.#samples.push({ at: nowMs, count });
    while (this.#samples.length > 2 && nowMs - (this.#samples[1]?.at ?? nowMs) > WINDOW_MS) {
      this.#samples.shift();
    }
    const first = this.#samples[0];
    if (first === undefined || nowMs <= first.at) return 0;
    return ((count - first.count) * 1000) / (nowMs - first.at);
  }
}
