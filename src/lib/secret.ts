import { inspect } from 'node:util';

const MASK = '***';

/**
 * A string that nobody may see. It prints, serialises and interpolates as `***`;
 * only {@link Secret.reveal} gives the value, where it is used and nowhere else.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The hidden value. Call it only at the place that sends it to its owner. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** A secret and what it is called, so that a message can name it: `DATABASE_URL`, `chains.1.privateRpc[0]`. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: Secret;
}
