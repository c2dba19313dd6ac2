import { type FullmatchError } from '../../errors.ts';
import { FairShares } from '../../lib/fair-shares.ts';
import { COUNTED_FROM_BYTES } from '../answer.ts';
import { tryAgainLater } from '../try-again-later.ts';

/** How many bytes of answers may be held for clients that have not taken them. */
export interface AnswerLimits {
  /** Of all clients. A body that goes to many clients is held once. */
  readonly bytes: number;
  /** Of one client, and of its network. A body counts for each of its requests. */
  readonly clientBytes: number;
}

/** The error where the answers of all clients together take all that they may. */
export function tooManyAnswers(): FullmatchError {
  return tryAgainLater('too_many_answers', 'As many large answers are under way as may');
}

/** The error where as many questions of one client or its network wait as may. */
export function tooManyClientQuestions(): FullmatchError {
  return tryAgainLater(
    'too_many_client_answers',
    'This client or its network waits for as many large answers or pages as it may',
  );
}

/**
 * Counts the bytes of answers that clients have not taken yet. One answer of a client, and one of all, always fits. In
 * a network a client takes room from a neighbour that has more to take, see {@link FairShares}.
 */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  readonly #clients: FairShares;
  readonly #bodies = new Map<Uint8Array, number>();
  #bytes = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#clients = new FairShares({ total: Infinity, perClient: limits.clientBytes });
  }

  /** The bytes that are held now, and for how many clients. */
  get held(): { readonly bytes: number; readonly clients: number } {
    return { bytes: this.#bytes, clients: this.#clients.clients };
  }

  /** Refuses a client that has taken too little of what it asked for before. @throws FullmatchError too_many_client_answers */
  requireRoom(client: string): void {
    if (this.#clients.heldBy(client) >= this.#limits.clientBytes) throw this.#tooManyOfClient();
  }

  /**
   * Counts a body for a client. The result gives it back.
   * @param giveWay told when the body has lost its room to a neighbour.
   * @throws FullmatchError too_many_client_answers, too_many_answers
   */
  hold(client: string, body: Uint8Array, giveWay: () => void): () => void {
    const { byteLength } = body;
    if (byteLength < COUNTED_FROM_BYTES) return () => undefined;
    const { bytes, clientBytes } = this.#limits;
    const share = this.#clients.open(client, () => {
      this.#dropReader(body);
      giveWay();
    });
    // The one answer that is larger than what a client may hold takes all of that.
    const grant = share.grow(Math.min(byteLength, clientBytes));
    if (grant !== 'granted') throw this.#tooManyOfClient();
    const readers = this.#bodies.get(body) ?? 0;
    if (readers === 0 && this.#bytes > 0 && this.#bytes + byteLength > bytes) {
      share.release();
      throw tooManyAnswers();
    }
    if (readers === 0) this.#bytes += byteLength;
    this.#bodies.set(body, readers + 1);
    return () => {
      if (share.amount > 0) this.#dropReader(body);
      share.release();
    };
  }

  #dropReader(body: Uint8Array): void {
    const readers = (this.#bodies.get(body) ?? 1) - 1;
    if (readers > 0) this.#bodies.set(body, readers);
    else {
      this.#bodies.delete(body);
      this.#bytes -= body.byteLength;
    }
  }

  #tooManyOfClient(): FullmatchError {
    return tryAgainLater(
      'too_many_client_answers',
      `This client or its network has ${this.#limits.clientBytes} bytes of answers to take; take them first`,
    );
  }
}
