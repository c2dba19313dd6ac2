/**
 * Returns whether a compiler's long version is the one that bytecode states: releases state three numbers,
 * pre-releases the long version without the platform. `0.8.20+commit.a1b79de6` is not 0.8.2.
 */
export function isOfVersion(longVersion: string, stated: string): boolean {
  return longVersion.startsWith(stated) && !/^\w/.test(longVersion.slice(stated.length));
}
