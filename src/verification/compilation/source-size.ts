import { VerificationFailure } from '../verification-failure.ts';

/** Sums up the size of source text and enforces the limit for one contract. */
export class SourceSizeLimiter {
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

/**
 * Rejects sources that are too large to be stored.
 * @throws VerificationFailure sources_too_large
 */
export function requireStorableSize(
  sources: Iterable<{ readonly content: string }>,
  limitBytes: number,
): void {
  const size = new SourceSizeLimiter(limitBytes);
  for (const { content } of sources) size.add(content);
}
