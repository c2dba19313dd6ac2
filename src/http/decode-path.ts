/**
 * Matches escapes except those of a slash, percent sign, question mark and hash, which would change the
 * meaning of a path.
 */
const ESCAPES = /(?:%(?!2f|25|3f|23)[0-9a-f]{2})+/gi;

/**
 * Normalizes a path for routing: escapes of letters, colons and other allowed characters are equivalent to
 * the characters themselves (RFC 3986, section 6.2.2.2). An escaped slash stays within its segment, and
 * invalid UTF-8 stays unchanged. The function is idempotent.
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
