/** What a URL parser takes for a step within the path, encoded or not, and what leaves a part out. */
const NO_PART = /^\.{0,2}$/;

/**
 * A text as one part of a path, whatever it is. `.` and `..` cannot be written as such: they get a space in front, which
 * no name of the service has, so that the request finds nothing rather than something else.
 */
export function pathPart(text: string | number): string {
  const part = encodeURIComponent(text);
  return NO_PART.test(part) ? `%20${part}` : part;
}
