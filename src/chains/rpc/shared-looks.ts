import { FullmatchError } from '../../errors.ts';
import { networkOf } from '../../lib/client-network.ts';
import { FairPlaces, type PlaceLimits } from '../../lib/fair-places.ts';

/** How much may be looked at, and how long what was seen is told again. */
export interface LookLimits {
  readonly places: PlaceLimits;
  /** For one network alone; what is known or under way costs it nothing. */
  readonly perMinute: number;
  readonly keptMs: number;
  readonly failureKeptMs: number;
  readonly mostKept: number;
}

const MINUTE_MS = 60_000;
/** Who finds no place asks again then. */
const RETRY_AFTER_S = 2;

/**
 * Looks that anybody may ask for and that cost others something: one for all who ask for the same meanwhile and for some
 * time after, few at a time, places in turns of networks, and so many for a network in a minute.
 */
export class SharedLooks<Seen> {
  readonly #limits: LookLimits;
  readonly #now: () => number;
  readonly #places: FairPlaces;
  readonly #seen = new Map<string, { readonly until: number; readonly seen: Seen }>();
  readonly #failed = new Map<string, { readonly until: number; readonly error: Error }>();
  readonly #underWay = new Map<string, Promise<Seen>>();
  readonly #ofNetwork = new Map<string, number>();
  #minute = 0;

  constructor(limits: LookLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#places = new FairPlaces(limits.places);
  }

  /**
   * What a key names, by somebody's look of a moment ago or a new one. A place is held until the look has ended.
   * @throws FullmatchError queue_full, with `details.retryAfterSeconds`; what `look` throws, which is told again for a while
   */
  async ask(key: string, client: string, look: () => Promise<Seen>): Promise<Seen> {
    const known = this.#known(key);
    if (known !== undefined) return known;
    const network = networkOf(client);
    this.#requireLook(network);
    const giveBack = await this.#places.take(client);
    if (giveBack === undefined) {
      throw tooMany('Too many contracts are being looked at', RETRY_AFTER_S);
    }
    const looking = this.#begin(key, network, look);
    return looking.finally(giveBack);
  }

  /** What was seen last, however long ago. */
  newest(key: string): Seen | undefined {
    return this.#seen.get(key)?.seen;
  }

  #known(key: string): Promise<Seen> | undefined {
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.until > this.#now()) return Promise.resolve(seen.seen);
    const failed = this.#failed.get(key);
    if (failed !== undefined && failed.until > this.#now()) {
      return Promise.reject(failed.error);
    }
    return this.#underWay.get(key);
  }

  /** Looks, unless somebody else has done so meanwhile. */
  async #begin(key: string, network: string, look: () => Promise<Seen>): Promise<Seen> {
    const meanwhile = this.#known(key);
    if (meanwhile !== undefined) return meanwhile;
    this.#countLook(network);
    const looking = this.#look(key, look).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, looking);
    return looking;
  }

  async #look(key: string, look: () => Promise<Seen>): Promise<Seen> {
    const { keptMs, failureKeptMs } = this.#limits;
    try {
      const seen = await look();
      this.#failed.delete(key);
      this.#keep(this.#seen, key, { until: this.#now() + keptMs, seen });
      return seen;
    } catch (error) {
      if (error instanceof Error) {
        this.#keep(this.#failed, key, { until: this.#now() + failureKeptMs, error });
      }
      throw error;
    }
  }

  /** Keeps what is newest; the oldest makes room. */
  #keep<Value>(kept: Map<string, Value>, key: string, value: Value): void {
    kept.delete(key);
    const [oldest] = kept.keys();
    if (kept.size >= this.#limits.mostKept && oldest !== undefined) kept.delete(oldest);
    kept.set(key, value);
  }

  #requireLook(network: string): void {
    const now = this.#now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) this.#ofNetwork.clear();
    this.#minute = minute;
    if ((this.#ofNetwork.get(network) ?? 0) < this.#limits.perMinute) return;
    const seconds = Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000);
    throw tooMany('Your network has asked for as many contracts as it may in a minute', seconds);
  }

  #countLook(network: string): void {
    this.#requireLook(network);
    this.#ofNetwork.set(network, (this.#ofNetwork.get(network) ?? 0) + 1);
  }
}

function tooMany(what: string, retryAfterSeconds: number): FullmatchError {
  const message = `${what}; ask again in ${retryAfterSeconds} seconds.`;
  return new FullmatchError('queue_full', message, { details: { retryAfterSeconds } });
}
