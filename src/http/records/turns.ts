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

/**
 * Work of many clients; a few pieces of it run at once. Networks take turns, and in a network its clients do. Where
 * as many pieces wait as may, the network with most of them gives one up, see {@link FairShares}.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #places: FairShares;
  /** By network and client. */
  readonly #waiting = new Map<string, Map<string, Set<Piece>>>();
  #running = 0;

  constructor(atOnce: number, places: ShareLimits = NO_LIMITS) {
    this.#atOnce = atOnce;
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
    if (this.#running >= this.#atOnce) await this.#wait(client, signal);
    else this.#running += 1;
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#next();
    }
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

  /** Hands the place of a piece that ended to the next network and client, which go to the end of their rows. */
  #next(): void {
    const [network, clients] = firstOf(this.#waiting) ?? [];
    const [client, pieces] = firstOf(clients) ?? [];
    const [piece] = pieces ?? [];
    if (piece === undefined) {
      this.#running -= 1;
      return;
    }
    if (network !== undefined && clients !== undefined) moveToEnd(this.#waiting, network, clients);
    if (client !== undefined && pieces !== undefined) moveToEnd(clients, client, pieces);
    this.#remove(piece);
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
