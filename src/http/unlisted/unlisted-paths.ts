/** Where what is unlisted is sent to and read, below the root of the API host and below its prefix. */
const UNLISTED = '/unlisted';

/** The prefixes of unlisted contracts on a host that answers at the root and at a prefix. */
export function unlistedPrefixes(apiPrefix: string): readonly string[] {
  return [...new Set(['', apiPrefix])].map((prefix) => `${prefix}${UNLISTED}`);
}

/** Whether a path is one of unlisted contracts. Clients join `v2/` to a base URL without a slash between. */
export function isUnlistedPath(path: string, prefixes: readonly string[]): boolean {
  return prefixes.some(
    (prefix) => path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}v2/`),
  );
}
