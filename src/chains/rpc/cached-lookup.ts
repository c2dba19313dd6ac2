import { LRUCache } from 'lru-cache';
import { FullmatchError } from '../../errors.ts';
import { Admission, type AdmissionLimits } from '../../lib/admission.ts';

/** Limits of a lookup, and how long results are cached. */
export interface LookupLimits {
  readonly atOnce: AdmissionLimits;
  readonly keptMs: number;
  readonly failureKeptMs: number;
  readonly mostKept: number;
}

/** Retry-After of a refused caller. */
const RETRY_AFTER_S = 2;

/**
 * Caches and bounds lookups that anyone may trigger and that cost other services something: concurrent
 * callers share one lookup, its result is kept for a time, and few run at once.
 */
export class CachedLookup<Seen> {
  readonly #limits: LookupLimits;
  readonly #now: () => number;
  readonly #admission: Admission;
  readonly #seen: LRUCache<string, { readonly until: number; readonly seen: Seen }>;
  readonly #failed: LRUCache<string, { readonly until: number; readonly error: Error }>;
  readonly #underWay = new Map<string, Promise<Seen>>();

  constructor(limits: LookupLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#admission = new Admission(limits.atOnce, tooManyLookups);
    this.#seen = new LRUCache({ max: limits.mostKept });
    this.#failed = new LRUCache({ max: limits.mostKept });
  }

  /**
   * The value of a key, cached or looked up now.
   * @throws FullmatchError queue_full, with `details.retryAfterSeconds`; errors of `lookUp`, which are cached
   * for a while too
   */
  async ask(key: string, client: string, lookUp: () => Promise<Seen>): Promise<Seen> {
    const known = this.#known(key);
    if (known !== undefined) return known;
    // Another caller may have finished the lookup meanwhile.
    return this.#admission.run(client, () => this.#known(key) ?? this.#lookUp(key, lookUp));
  }

  /** The last value, of any age. */
  newest(key: string): Seen | undefined {
    return this.#seen.get(key)?.seen;
  }

  #known(key: string): Promise<Seen> | undefined {
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.until > this.#now()) return Promise.resolve(seen.seen);
    const failed = this.#failed.get(key);
    if (failed !== undefined && failed.until > this.#now()) return Promise.reject(failed.error);
    return this.#underWay.get(key);
  }

  #lookUp(key: string, lookUp: () => Promise<Seen>): Promise<Seen> {
    const result = this.#lookUpAndCache(key, lookUp).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, result);
    return result;
  }

  async #lookUpAndCache(key: string, lookUp: () => Promise<Seen>): Promise<Seen> {
    const { keptMs, failureKeptMs } = this.#limits;
    try {
      const seen = await lookUp();
      this.#failed.delete(key);
      this.#seen.set(key, { until: this.#now() + keptMs, seen });
      return seen;
    } catch (error) {
      if (error instanceof Error) {
        this.#failed.set(key, { until: this.#now() + failureKeptMs, error });
      }
      throw error;
    }
  }
}

function tooManyLookups(): FullmatchError {
  const message = `Too many contracts are being read; try again in ${RETRY_AFTER_S} seconds.`;
  return new FullmatchError('queue_full', message, {
    details: { retryAfterSeconds: RETRY_AFTER_S },
  });
}
