/**
 * Why content named by its hash could not be used. `unavailable`: no gateway delivered it, which may change.
 * `malformed` and `too_large`: determined from bytes with a verified hash, and therefore permanent.
 */
type ContentFaultKind = 'unavailable' | 'malformed' | 'too_large';

/** Content could not be used. The message is a sentence that contains at most the origin of a URL. */
export class ContentFault extends Error {
  override readonly name = 'ContentFault';
  readonly kind: ContentFaultKind;

  constructor(kind: ContentFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
