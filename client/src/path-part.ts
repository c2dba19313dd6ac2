/** Segments that a URL parser resolves within the path, encoded or not, and empty segments. */
const NO_PART = /^\.{0,2}$/;

/**
 * Encodes a text as one path segment. `.` and `..` cannot be written as such: they get a leading space, which
 * no name of the service has, so that the request finds nothing instead of something else.
 */
export function pathPart(text: string | number): string {
  const part = encodeURIComponent(text);
  return NO_PART.test(part) ? `%20${part}` : part;
}
