import { ContentFault } from '../content-fault.ts';

const MAX_SHOWN = 5;

/** Distinct sentences about failed attempts. */
export class Attempts {
  readonly #notes = new Set<string>();

  add(note: string): void {
    this.#notes.add(note);
  }

  /** Creates the fault that names the content and the response of each gateway. */
  toFault(what: string): ContentFault {
    const notes = [...this.#notes];
    const more = notes.length - MAX_SHOWN;
    const shown = [what, ...notes.slice(0, MAX_SHOWN), ...(more > 0 ? [`And ${more} more.`] : [])];
    return new ContentFault('unavailable', shown.join(' '));
  }
}
