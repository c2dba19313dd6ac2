import { checksumAddress, type Hex } from '../lib/hex.ts';
import type { Match } from '../repository/repository.ts';

/** The folders of the published tree. */
export const MATCH_FOLDERS = { full: 'full_match', partial: 'partial_match' } as const;

/** The path of a contract's folder in the published tree, without slashes around it. */
export function folderPath(contract: {
  readonly match: Match;
  readonly chainId: number;
  readonly address: Hex;
}): string {
  const { match, chainId, address } = contract;
  return `contracts/${MATCH_FOLDERS[match]}/${chainId}/${checksumAddress(address)}`;
}

/** A path as it stands in a URL: each segment percent-encoded. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
