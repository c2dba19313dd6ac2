import { checksumAddress, type Hex } from '../lib/hex.ts';
import type { Match } from '../repository/repository.ts';

/** Folders of the published tree. */
export const MATCH_FOLDERS = { full: 'full_match', partial: 'partial_match' } as const;

/** Returns the path of a contract's folder in the published tree, without leading or trailing slash. */
export function folderPath(contract: {
  readonly match: Match;
  readonly chainId: number;
  readonly address: Hex;
}): string {
  const { match, chainId, address } = contract;
  return `contracts/${MATCH_FOLDERS[match]}/${chainId}/${checksumAddress(address)}`;
}

/** Encodes a path for a URL, each segment separately. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
