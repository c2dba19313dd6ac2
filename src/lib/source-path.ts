/** Limits of a path, in bytes of UTF-8 and in segments. Compilers have no limit; no project comes close to these. */
const MAX_BYTES = 8_192;
const MAX_PARTS = 1_000;

/** Returns whether a source path is within the limits: each segment costs time wherever paths are compared. */
export function isPathWithinLimits(path: string): boolean {
  if (path.length > MAX_BYTES || Buffer.byteLength(path) > MAX_BYTES) return false;
  let parts = 1;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) parts += 1;
  return parts <= MAX_PARTS;
}

/** The limits of paths, for error messages. */
export const PATH_BOUNDS = `at most ${MAX_BYTES} bytes and ${MAX_PARTS} parts`;

/** Limit of a contract name in bytes of UTF-8: lists, events and pages show names in full. */
export const MAX_NAME_BYTES = 1_024;

/** Returns whether a contract name is short enough to be published. */
export function isBoundedName(name: string): boolean {
  return name.length <= MAX_NAME_BYTES && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}
