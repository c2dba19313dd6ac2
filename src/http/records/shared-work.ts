import { type Turns } from './turns.ts';

/** Who asks for work. */
interface Asker {
  readonly client: string;
  /** Fires when the asker leaves. */
  readonly signal: AbortSignal;
}

/** Does the work. The signal fires when nobody waits for it any more. */
export type Work<T> = (unwanted: AbortSignal) => Promise<T>;

/** Work of one key, from its first asker to its end. */
interface Piece<T> {
  askers: number;
  readonly begins: AbortController;
  readonly unwanted: AbortController;
  begun?: Promise<T>;
}

/**
 * Work that is done once for all who ask for the same. Each asker waits in its own turn, and the first turn that comes
 * does the work, so that nobody waits behind the other questions of whoever asked first. Once the last asker has left
 * the work is dropped.
 */
export class SharedWork<T> {
  readonly #turns: Turns;
  readonly #pieces = new Map<string, Piece<T>>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Asks for the work of a key. @throws what the work throws; NoPlace; the reason of the asker's signal */
  async ask(key: string, asker: Asker, work: Work<T>): Promise<T> {
    const { signal } = asker;
    signal.throwIfAborted();
    const piece = this.#pieces.get(key) ?? this.#open(key);
    piece.askers += 1;
    const leave = (): void => {
      piece.askers -= 1;
      if (piece.askers > 0) return;
      this.#close(key, piece);
      piece.unwanted.abort(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      if (piece.begun === undefined) await this.#waitForTurn(key, piece, asker, work);
      return await (piece.begun as Promise<T>);
    } finally {
      signal.removeEventListener('abort', leave);
      if (!signal.aborted) leave();
    }
  }

  /** Resolves when the work has begun, in this asker's turn or in another's. */
  async #waitForTurn(key: string, piece: Piece<T>, asker: Asker, work: Work<T>): Promise<void> {
    const signal = AbortSignal.any([asker.signal, piece.begins.signal]);
    const begin = async (): Promise<void> => {
      piece.begun = work(piece.unwanted.signal);
      piece.begins.abort();
      // Its fault is for the askers.
      await piece.begun.catch(() => undefined);
      this.#close(key, piece);
    };
    try {
      await this.#turns.run(asker.client, begin, signal);
    } catch (error) {
      if (piece.begun === undefined) throw error;
    }
  }

  #open(key: string): Piece<T> {
    const piece = { askers: 0, begins: new AbortController(), unwanted: new AbortController() };
    this.#pieces.set(key, piece);
    return piece;
  }

  #close(key: string, piece: Piece<T>): void {
    if (this.#pieces.get(key) === piece) this.#pieces.delete(key);
  }
}
