/** Escapes that mean something else than what they stand for: of a slash, a percent sign, a question mark and a hash. */
const ESCAPES = /(?:%(?!2f|25|3f|23)[0-9a-f]{2})+/gi;

/**
 * The path that routes are matched with: escapes of letters, colons and whatever else a path may hold name the same path as
 * the characters themselves (RFC 3986, section 6.2.2.2). An escaped slash stays within its segment, and what is no UTF-8
 * stays as it is. Decoding twice changes nothing.
 */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(ESCAPES, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
