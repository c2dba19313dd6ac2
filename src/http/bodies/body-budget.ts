import { FullmatchError } from '../../errors.ts';

/** How many bytes of bodies may be held at once, by this process. */
export interface BodyLimits {
  /** In memory, of all clients. */
  readonly memoryBytes: number;
  /** In temporary files, of all clients. */
  readonly spoolBytes: number;
  /** Of one client, in memory and in files together. */
  readonly clientBytes: number;
}

/** A client's bodies are read within a second or two; memory of others frees at the same pace. */
const RETRY_AFTER_S = 5;

/** The error where the bodies of all clients together take all that they may. */
export function tooManyBodies(): FullmatchError {
  return new FullmatchError(
    'too_many_bodies',
    `As many request bodies are being read as may; try again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S } },
  );
}

/** Counts the bytes of bodies that are being received or wait to be read. */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #clients = new Map<string, number>();
  readonly #held = { memory: 0, spool: 0 };

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** The bytes that are held now, and of how many clients. */
  get held(): { readonly memory: number; readonly spool: number; readonly clients: number } {
    return { ...this.#held, clients: this.#clients.size };
  }

  /** Whether so many bytes more may be in this place. */
  hasRoom(place: 'memory' | 'spool', bytes: number): boolean {
    const { memoryBytes, spoolBytes } = this.#limits;
    return this.#held[place] + bytes <= (place === 'memory' ? memoryBytes : spoolBytes);
  }

  /** Counts bytes of a client; fewer than none gives them back. @throws FullmatchError too_many_client_bodies */
  count(client: string, place: 'memory' | 'spool', bytes: number): void {
    const ofClient = (this.#clients.get(client) ?? 0) + bytes;
    const { clientBytes } = this.#limits;
    if (bytes > 0 && ofClient > clientBytes) {
      throw new FullmatchError(
        'too_many_client_bodies',
        `This client has sent ${clientBytes} bytes that are not read yet; try again in ${RETRY_AFTER_S} seconds.`,
        { details: { retryAfterSeconds: RETRY_AFTER_S } },
      );
    }
    this.#held[place] += bytes;
    if (ofClient > 0) this.#clients.set(client, ofClient);
    else this.#clients.delete(client);
  }
}

/** What one body takes of a budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly #client: string;
  #memory = 0;
  #spool = 0;

  constructor(budget: BodyBudget, client: string) {
    this.#budget = budget;
    this.#client = client;
  }

  /** Counts bytes of memory before they are taken. @returns false where they may not be. @throws FullmatchError too_many_client_bodies */
  takeMemory(bytes: number): boolean {
    if (!this.#budget.hasRoom('memory', bytes)) return false;
    this.#budget.count(this.#client, 'memory', bytes);
    this.#memory += bytes;
    return true;
  }

  /** Counts bytes of a file before they are written. @throws FullmatchError too_many_client_bodies, too_many_bodies */
  takeSpool(bytes: number): void {
    if (!this.#budget.hasRoom('spool', bytes)) throw tooManyBodies();
    this.#budget.count(this.#client, 'spool', bytes);
    this.#spool += bytes;
  }

  /** Gives the memory back. */
  releaseMemory(): void {
    this.#budget.count(this.#client, 'memory', -this.#memory);
    this.#memory = 0;
  }

  /** Gives everything back. */
  release(): void {
    this.releaseMemory();
    this.#budget.count(this.#client, 'spool', -this.#spool);
    this.#spool = 0;
  }
}
