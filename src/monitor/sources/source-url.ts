import { type BlockCid, parseCid } from './ipfs/cid.ts';

/** Content address of a source: a file in IPFS or content in Swarm. */
export type ContentAddress =
  | { readonly storage: 'ipfs'; readonly cid: BlockCid }
  | { readonly storage: 'swarm'; readonly hash: string };

/** No URL that names content by its hash is longer. */
const MAX_CHARACTERS = 120;
const IPFS_URL = /^(?:dweb:\/{1,2}ipfs\/|ipfs:\/\/(?:ipfs\/)?)([0-9A-Za-z]+)$/;
/** solc before 0.4.18 wrote `bzzr`. */
const SWARM_URL = /^bzz(?:-raw|r):\/\/([0-9a-fA-F]{64})$/;

/**
 * Parses a metadata URL that names content by its hash; returns undefined for any other URL, since URLs
 * chosen by a metadata author are never fetched.
 */
export function readSourceUrl(url: string): ContentAddress | undefined {
  if (url.length > MAX_CHARACTERS) return undefined;
  const [, file] = IPFS_URL.exec(url) ?? [];
  const cid = file === undefined ? undefined : parseCid(file);
  if (cid !== undefined) return { storage: 'ipfs', cid };
  const [, hash] = SWARM_URL.exec(url) ?? [];
  return hash === undefined ? undefined : { storage: 'swarm', hash: hash.toLowerCase() };
}
