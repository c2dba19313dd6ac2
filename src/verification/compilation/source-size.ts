import { VerificationFailure } from '../verification-failure.ts';

/** Adds up source text, and refuses more than is kept of one contract. */
export class SourceSize {
  readonly #limitBytes: number;
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** @throws VerificationFailure sources_too_large */
  add(content: string): void {
    this.#bytes += Buffer.byteLength(content);
    if (this.#bytes <= this.#limitBytes) return;
    throw new VerificationFailure(
      'sources_too_large',
      `The contract's sources exceed the ${this.#limitBytes} bytes stored for a contract.`,
      { data: { limitBytes: this.#limitBytes } },
    );
  }
}

/** Refuses sources that are too large to be kept. @throws VerificationFailure sources_too_large */
export function requireKeptSize(
  sources: Iterable<{ readonly content: string }>,
  limitBytes: number,
): void {
  const size = new SourceSize(limitBytes);
  for (const { content } of sources) size.add(content);
}
