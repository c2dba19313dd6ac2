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

/** What a contract's name may have in bytes of UTF-8: lists, events and pages show names whole. */
export const MOST_NAME_BYTES = 1_024;

/** Whether a contract's name is of a length that may be published. */
export function isBoundedName(name: string): boolean {
  return name.length <= MOST_NAME_BYTES && Buffer.byteLength(name) <= MOST_NAME_BYTES;
}
