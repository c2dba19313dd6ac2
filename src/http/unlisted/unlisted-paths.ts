/** Path of the unlisted contracts, below the root of the API host and below its prefix. */
const UNLISTED = '/unlisted';

/** Returns the prefixes of unlisted contracts on a host that answers at the root and at a prefix. */
export function unlistedPrefixes(apiPrefix: string): readonly string[] {
  return [...new Set(['', apiPrefix])].map((prefix) => `${prefix}${UNLISTED}`);
}

/**
 * Returns whether a path belongs to unlisted contracts. Some clients append `v2/` to a base URL without a
 * slash in between.
 */
export function isUnlistedPath(path: string, prefixes: readonly string[]): boolean {
  return prefixes.some(
    (prefix) => path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}v2/`),
  );
}
