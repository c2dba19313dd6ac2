import { ContentFault } from '../content-fault.ts';
import { type SourceLimits } from '../source-limits.ts';

/** Counts what looking for the sources of one contract makes gateways send and this service read, whoever asks and for what. */
export class Spending {
  readonly #limits: SourceLimits;
  #requests = 0;
  #bytes = 0;
  #steps = 0;
  #fileBytes = 0;

  constructor(limits: SourceLimits) {
    this.#limits = limits;
  }

  /** Begins a request. @throws ContentFault `unavailable` where there were too many, or too much came */
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

  /** Begins to read a field or a block. @throws ContentFault `too_large` where there were too many */
  takeStep(): void {
    const { steps } = this.#limits;
    if (this.#steps >= steps) {
      throw new ContentFault('too_large', `The files have more than ${steps} fields and blocks.`);
    }
    this.#steps += 1;
  }

  /** Adds bytes to a file: those of one block count in every file. @throws ContentFault `too_large` */
  takeFileBytes(bytes: number): void {
    const { fileBytes } = this.#limits;
    this.#fileBytes += bytes;
    if (this.#fileBytes > fileBytes) {
      throw new ContentFault('too_large', `The files have more than ${fileBytes} bytes.`);
    }
  }
}
