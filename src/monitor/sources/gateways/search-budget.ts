import { ContentFault } from '../content-fault.ts';
import { type SourceLimits } from '../source-limits.ts';

/** Counts the requests, response bytes and work of one contract's source search, across all its parts. */
export class SearchBudget {
  readonly #limits: SourceLimits;
  #requests = 0;
  #bytes = 0;
  #steps = 0;
  #fileBytes = 0;

  constructor(limits: SourceLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a request.
   * @throws ContentFault `unavailable` if the limit on requests or response bytes is reached
   */
  takeRequest(): void {
    const { requests, answerBytes } = this.#limits;
    if (this.#requests >= requests) {
      throw new ContentFault('unavailable', `More than ${requests} requests would be needed.`);
    }
    if (this.#bytes >= answerBytes) {
      throw new ContentFault(
        'unavailable',
        `The gateways returned more than ${answerBytes} bytes.`,
      );
    }
    this.#requests += 1;
  }

  takeBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Counts a field or block about to be read.
   * @throws ContentFault `too_large` if there are too many
   */
  takeStep(): void {
    const { steps } = this.#limits;
    if (this.#steps >= steps) {
      throw new ContentFault('too_large', `The files have more than ${steps} fields and blocks.`);
    }
    this.#steps += 1;
  }

  /**
   * Counts bytes of a file; a block counts in every file that contains it.
   * @throws ContentFault `too_large`
   */
  takeFileBytes(bytes: number): void {
    const { fileBytes } = this.#limits;
    this.#fileBytes += bytes;
    if (this.#fileBytes > fileBytes) {
      throw new ContentFault('too_large', `The files have more than ${fileBytes} bytes.`);
    }
  }
}
