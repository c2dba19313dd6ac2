import { networkOf } from '../../lib/client-network.ts';
import { FairShares, type Share, type ShareLimits } from '../../lib/fair-shares.ts';

/** Work that found no place to wait, or lost its place: to all clients together, or within its own client's bound. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
  readonly kind: 'full' | 'client_full';

  constructor(kind: 'full' | 'client_full') {
    super(`turns: ${kind}`);
    this.kind = kind;
  }
}

interface Piece {
  readonly place: Share;
  readonly start: () => void;
}

const NO_LIMITS: ShareLimits = { total: Infinity, perClient: Infinity };

/** How many pieces of work run at once: of all clients, and of one network. */
export interface AtOnce {
  readonly total: number;
  readonly perNetwork: number;
}

/**
 * Work of many clients; a few pieces of it run at once. Networks take turns, and in a network its clients do. Where
 * as many pieces wait as may, the network with most of them gives one up, see {@link FairShares}.
 */
export class Turns {
  readonly #atOnce: AtOnce;
  readonly #places: FairShares;
  /** By network and client. */
  readonly #waiting = new Map<string, Map<string, Set<Piece>>>();
  /** The pieces that run, by network. */
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  /** @param atOnce a network may have all places where it is a number. */
  constructor(atOnce: number | AtOnce, places: ShareLimits = NO_LIMITS) {
    this.#atOnce = typeof atOnce === 'number' ? { total: atOnce, perNetwork: atOnce } : atOnce;
    this.#places = new FairShares(places);
  }

  /** How many pieces wait. */
  get waiting(): number {
    return this.#places.total;
  }

  /**
   * Runs a client's work in its turn. Work that still waits when `signal` fires is dropped.
   * @throws NoPlace; the reason of `signal`
   */
  async run<T>(client: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const network = networkOf(client);
    if (this.#running < this.#atOnce.total && this.#mayRun(network)) this.#count(network, 1);
    else await this.#wait(client, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#count(network, -1);
      this.#next();
    }
  }

  #mayRun(network: string): boolean {
    return (this.#runningOf.get(network) ?? 0) < this.#atOnce.perNetwork;
  }

  #count(network: string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningOf.get(network) ?? 0) + change;
    if (running > 0) this.#runningOf.set(network, running);
    else this.#runningOf.delete(network);
  }

  #wait(client: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        signal?.removeEventListener('abort', drop);
        if (this.#remove(piece)) reject(error);
      };
      const drop = (): void => leave(signal?.reason as Error);
      const place = this.#places.open(client, () => leave(new NoPlace('full')));
      const start = (): void => {
        signal?.removeEventListener('abort', drop);
        resolve();
      };
      const piece: Piece = { place, start };
      const grant = place.grow(1);
      if (grant !== 'granted') {
        reject(new NoPlace(grant));
        return;
      }
      signal?.addEventListener('abort', drop, { once: true });
      this.#add(piece);
    });
  }

  #add(piece: Piece): void {
    const { network, client } = piece.place;
    const clients = this.#waiting.get(network) ?? new Map<string, Set<Piece>>();
    const pieces = clients.get(client) ?? new Set();
    this.#waiting.set(network, clients.set(client, pieces.add(piece)));
  }

  /** @returns whether the piece waited. */
  #remove(piece: Piece): boolean {
    const { network, client } = piece.place;
    const clients = this.#waiting.get(network);
    const pieces = clients?.get(client);
    if (clients === undefined || pieces?.delete(piece) !== true) return false;
    if (pieces.size === 0) clients.delete(client);
    if (clients.size === 0) this.#waiting.delete(network);
    piece.place.release();
    return true;
  }

  /** Gives the place of a piece that ended to the next network and client, which go to the end of their rows. */
  #next(): void {
    const network = [...this.#waiting.keys()].find((each) => this.#mayRun(each));
    const clients = network === undefined ? undefined : this.#waiting.get(network);
    const [client, pieces] = firstOf(clients) ?? [];
    const [piece] = pieces ?? [];
    if (network === undefined || clients === undefined || piece === undefined) return;
    moveToEnd(this.#waiting, network, clients);
    if (client !== undefined && pieces !== undefined) moveToEnd(clients, client, pieces);
    this.#remove(piece);
    this.#count(network, 1);
    piece.start();
  }
}

function firstOf<Value>(row: ReadonlyMap<string, Value> | undefined): [string, Value] | undefined {
  return row?.entries().next().value;
}

function moveToEnd<Value>(row: Map<string, Value> | undefined, key: string, value: Value): void {
  row?.delete(key);
  row?.set(key, value);
}
