/** In bytes of UTF-8, and in parts between slashes. No compiler has a bound; no project comes near these. */
const MOST_BYTES = 8_192;
const MOST_PARTS = 1_000;

/**
 * Whether a source's path is of a length that may be read: each part of it costs time wherever paths are compared, so
 * nothing longer is taken.
 */
export function isBoundedPath(path: string): boolean {
  if (path.length > MOST_BYTES || Buffer.byteLength(path) > MOST_BYTES) return false;
  let parts = 1;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) parts += 1;
  return parts <= MOST_PARTS;
}

/** What paths may be, for errors. */
export const PATH_BOUNDS = `at most ${MOST_BYTES} bytes and ${MOST_PARTS} parts`;
