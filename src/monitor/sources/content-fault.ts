/**
 * Why a content named by its hash was not had. `unavailable`: nobody gave it now, which may change. `malformed` and
 * `too_large`: said by bytes whose hash was checked, so that it stays true whoever is asked.
 */
type ContentFaultKind = 'unavailable' | 'malformed' | 'too_large';

/** A content was not had. The message is a sentence with nothing of a URL but its origin. */
export class ContentFault extends Error {
  override readonly name = 'ContentFault';
  readonly kind: ContentFaultKind;

  constructor(kind: ContentFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
