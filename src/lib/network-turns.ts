import { networkOf } from './client-network.ts';

/** What waits for clients, one of each network in turn; within a network in the order of coming. */
export class NetworkTurns<Item> {
  readonly #waiting = new Map<string, Set<Item>>();

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Adds what waits for a client. @returns takes it out again, and says whether it still waited. */
  add(client: string, item: Item): () => boolean {
    const network = networkOf(client);
    const items = this.#waiting.get(network) ?? new Set();
    this.#waiting.set(network, items);
    items.add(item);
    return () => {
      const waited = items.delete(item);
      if (items.size === 0 && this.#waiting.get(network) === items) this.#waiting.delete(network);
      return waited;
    };
  }

  /** Takes what is next of the networks that may go on; its network is behind all others then. */
  next(mayGoOn: (network: string) => boolean = () => true): Item | undefined {
    const first = this.#first(mayGoOn);
    if (first === undefined) return undefined;
    const [network, items] = first;
    const [item] = items;
    this.#waiting.delete(network);
    if (item === undefined) return undefined;
    items.delete(item);
    if (items.size > 0) this.#waiting.set(network, items);
    return item;
  }

  #first(mayGoOn: (network: string) => boolean): readonly [string, Set<Item>] | undefined {
    for (const entry of this.#waiting) if (mayGoOn(entry[0])) return entry;
    return undefined;
  }
}
