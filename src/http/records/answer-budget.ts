import { FullmatchError } from '../../errors.ts';

/** How many bytes of answers may be held for clients that have not taken them. */
export interface AnswerLimits {
  /** Of all clients. A body that goes to many clients is held once. */
  readonly bytes: number;
  /** Of one client. A body counts for each of its requests. */
  readonly clientBytes: number;
}

/** Slow readers are cut, and others take their answers in a second or two. */
const RETRY_AFTER_S = 5;
/** Smaller answers are not counted: look-ups are answered whatever else a client reads. */
const COUNTED_FROM_BYTES = 65_536;

/** The error where the answers of all clients together take all that they may. */
export function tooManyAnswers(): FullmatchError {
  return new FullmatchError(
    'too_many_answers',
    `As many large answers are under way as may; try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}

function tooManyClientAnswers(bytes: number): FullmatchError {
  return new FullmatchError(
    'too_many_client_answers',
    `This client has ${bytes} bytes of answers to take; take them and try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}

/** The error where as many questions of one client or its network wait as may. */
export function tooManyClientQuestions(): FullmatchError {
  return new FullmatchError(
    'too_many_client_answers',
    `This client or its network waits for as many large answers or pages as it may; try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}

/** Counts the bytes of answers that clients have not taken yet. One answer of a client, and one of all, always fits. */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  readonly #clients = new Map<string, number>();
  readonly #bodies = new Map<Uint8Array, number>();
  #bytes = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
  }

  /** The bytes that are held now, and for how many clients. */
  get held(): { readonly bytes: number; readonly clients: number } {
    return { bytes: this.#bytes, clients: this.#clients.size };
  }

  /** Refuses a client that has taken too little of what it asked for before. @throws FullmatchError too_many_client_answers */
  requireRoom(client: string): void {
    if ((this.#clients.get(client) ?? 0) < this.#limits.clientBytes) return;
    throw tooManyClientAnswers(this.#limits.clientBytes);
  }

  /**
   * Counts a body for a client. The result gives it back, once.
   * @throws FullmatchError too_many_client_answers, too_many_answers
   */
  hold(client: string, body: Uint8Array): () => void {
    const { byteLength } = body;
    if (byteLength < COUNTED_FROM_BYTES) return () => undefined;
    const ofClient = this.#clients.get(client) ?? 0;
    const { bytes, clientBytes } = this.#limits;
    if (ofClient > 0 && ofClient + byteLength > clientBytes) {
      throw tooManyClientAnswers(clientBytes);
    }
    const readers = this.#bodies.get(body) ?? 0;
    if (readers === 0 && this.#bytes > 0 && this.#bytes + byteLength > bytes) {
      throw tooManyAnswers();
    }
    if (readers === 0) this.#bytes += byteLength;
    this.#bodies.set(body, readers + 1);
    this.#clients.set(client, ofClient + byteLength);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(client, body);
      isHeld = false;
    };
  }

  #release(client: string, body: Uint8Array): void {
    const { byteLength } = body;
    const readers = (this.#bodies.get(body) ?? 1) - 1;
    if (readers > 0) this.#bodies.set(body, readers);
    else {
      this.#bodies.delete(body);
      this.#bytes -= byteLength;
    }
    const left = (this.#clients.get(client) ?? 0) - byteLength;
    if (left > 0) this.#clients.set(client, left);
    else this.#clients.delete(client);
  }
}
