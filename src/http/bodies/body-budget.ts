import { type FullmatchError } from '../../errors.ts';
import { FairShares, type Share } from '../../lib/fair-shares.ts';
import { LeftBuffers } from '../../lib/left-buffers.ts';
import { tryAgainLater } from '../try-again-later.ts';

/** How many bytes of bodies may be held at once, by this process. */
export interface BodyLimits {
  /** In memory, of all clients. */
  readonly memoryBytes: number;
  /** In temporary files, of all clients. */
  readonly spoolBytes: number;
  /** Of one client, and of its network, in memory and in files together. */
  readonly clientBytes: number;
}

/** The error where the bodies of all clients together take all that they may. */
export function tooManyBodies(): FullmatchError {
  return tryAgainLater('too_many_bodies', 'As many request bodies are being read as may');
}

/**
 * Counts the bytes of bodies that are being received or wait to be read. Where all room is taken, a body takes it from
 * one of the network that holds most of the files, see {@link FairShares}.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  /** Of memory and of files together: what a client may hold. */
  readonly #all: FairShares;
  readonly #spool: FairShares;
  readonly #leftBuffers = new LeftBuffers();
  #memory = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
    this.#all = new FairShares({ total: Infinity, perClient: limits.clientBytes });
    this.#spool = new FairShares({ total: limits.spoolBytes, perClient: Infinity });
  }

  /** The bytes that are held now, and of how many clients. */
  get held(): { readonly memory: number; readonly spool: number; readonly clients: number } {
    return { memory: this.#memory, spool: this.#spool.total, clients: this.#all.clients };
  }

  /** Counts bytes of memory; fewer than none gives them back. @returns false where they may not be taken. */
  countMemory(bytes: number): boolean {
    if (bytes > 0 && this.#memory + bytes > this.#limits.memoryBytes) return false;
    this.#memory += bytes;
    if (bytes < 0) this.#leftBuffers.tell();
    return true;
  }

  /** The shares of a new body. @param giveWay told when another body takes its room. */
  open(client: string, giveWay: () => void): { readonly all: Share; readonly spool: Share } {
    return { all: this.#all.open(client, giveWay), spool: this.#spool.open(client, giveWay) };
  }

  /** The error for a client that holds all that it may. */
  tooManyOfClient(): FullmatchError {
    return tryAgainLater(
      'too_many_client_bodies',
      `This client or its network has sent ${this.#limits.clientBytes} bytes that are not read yet`,
    );
  }
}

/** What one body takes of a budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly #all: Share;
  readonly #spool: Share;
  readonly #lost = new AbortController();
  #memory = 0;

  constructor(budget: BodyBudget, client: string) {
    this.#budget = budget;
    const { all, spool } = budget.open(client, () => {
      this.release();
      this.#lost.abort(tooManyBodies());
    });
    this.#all = all;
    this.#spool = spool;
  }

  /** Aborts when another body takes the room of this one, which then holds nothing any more. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Counts bytes of memory before they are taken. @returns false where they may not be. @throws FullmatchError too_many_client_bodies */
  takeMemory(bytes: number): boolean {
    if (!this.#budget.countMemory(bytes)) return false;
    this.#memory += bytes;
    this.#take(bytes);
    return true;
  }

  /** Counts bytes of a file before they are written. @throws FullmatchError too_many_client_bodies, too_many_bodies */
  takeSpool(bytes: number): void {
    this.#take(bytes);
    if (this.#spool.grow(bytes) !== 'granted') throw tooManyBodies();
  }

  #take(bytes: number): void {
    this.#lost.signal.throwIfAborted();
    if (this.#all.grow(bytes) !== 'granted') throw this.#budget.tooManyOfClient();
  }

  /** Gives the memory back. */
  releaseMemory(): void {
    this.#budget.countMemory(-this.#memory);
    this.#all.shrink(this.#memory);
    this.#memory = 0;
  }

  /** Gives everything back. */
  release(): void {
    this.releaseMemory();
    this.#all.release();
    this.#spool.release();
  }
}
