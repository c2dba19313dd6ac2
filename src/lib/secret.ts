import { inspect } from 'node:util';

const MASK = '***';

/**
 * A secret string. It prints, serializes and interpolates as `***`; only {@link Secret.reveal} returns the
 * value, for the single place that uses it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the value. Call it only where the secret is sent to its owner. */
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

/** A secret with its name for messages: `DATABASE_URL`, `chains.1.privateRpc[0]`. */
export interface NamedSecret {
  readonly name: string;
  readonly secret: Secret;
}
