import { networkOf } from './client-network.ts';
import { NetworkTurns } from './network-turns.ts';

/** How many may work at once, and how many may wait for that. */
export interface PlaceLimits {
  readonly places: number;
  /** For one network alone (all). */
  readonly placesOfNetwork?: number;
  readonly waiting: number;
  /** For one network alone. */
  readonly waitingOfNetwork: number;
  /** Who waits longer goes away. */
  readonly waitMs: number;
}

/** Places for work. One that becomes free is given to the networks that wait in turn, so that one that asks for many delays no other. */
export class FairPlaces {
  readonly #waiting = new NetworkTurns<() => void>();
  readonly #waitingOf = new Map<string, number>();
  readonly #takenOf = new Map<string, number>();
  readonly #limits: PlaceLimits;
  #taken = 0;
  #waiters = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place, and waits for one where all are taken.
   * @returns what gives the place back; undefined where too many wait, or it took too long.
   */
  async take(client: string): Promise<(() => void) | undefined> {
    const { places, waiting, waitingOfNetwork } = this.#limits;
    const network = networkOf(client);
    if (this.#taken < places && this.#mayTake(network)) {
      this.#hold(network);
      return () => this.#giveBack(network);
    }
    const ofNetwork = this.#waitingOf.get(network) ?? 0;
    if (this.#waiters >= waiting || ofNetwork >= waitingOfNetwork) return undefined;
    this.#waiters += 1;
    add(this.#waitingOf, network, 1);
    const isGiven = await this.#wait(client, network);
    this.#waiters -= 1;
    add(this.#waitingOf, network, -1);
    return isGiven ? () => this.#giveBack(network) : undefined;
  }

  #mayTake(network: string): boolean {
    return (this.#takenOf.get(network) ?? 0) < (this.#limits.placesOfNetwork ?? Infinity);
  }

  #hold(network: string): void {
    this.#taken += 1;
    add(this.#takenOf, network, 1);
  }

  #wait(client: string, network: string): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = this.#waiting.add(client, () => {
        clearTimeout(timer);
        this.#hold(network);
        resolve(true);
      });
      const timer = setTimeout(() => {
        if (leave()) resolve(false);
      }, this.#limits.waitMs);
      timer.unref();
    });
  }

  #giveBack(network: string): void {
    this.#taken -= 1;
    add(this.#takenOf, network, -1);
    this.#waiting.next((waiting) => this.#mayTake(waiting))?.();
  }
}

/** Adds to a count, and forgets it at zero. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
