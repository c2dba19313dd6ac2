import { type BlockCid, parseCid } from './ipfs/cid.ts';

/** Where a source is by its content: a file of IPFS or a content of Swarm. */
export type ContentPlace =
  | { readonly storage: 'ipfs'; readonly cid: BlockCid }
  | { readonly storage: 'swarm'; readonly hash: string };

/** Longer than any that names a content by its hash. */
const MOST_CHARACTERS = 120;
const IPFS_URL = /^(?:dweb:\/{1,2}ipfs\/|ipfs:\/\/(?:ipfs\/)?)([0-9A-Za-z]+)$/;
/** solc before 0.4.18 writes `bzzr`. */
const SWARM_URL = /^bzz(?:-raw|r):\/\/([0-9a-fA-F]{64})$/;

/** What a URL of metadata names by its hash; undefined for all others: nothing that a metadata document says is called. */
export function readSourceUrl(url: string): ContentPlace | undefined {
  if (url.length > MOST_CHARACTERS) return undefined;
  const [, file] = IPFS_URL.exec(url) ?? [];
  const cid = file === undefined ? undefined : parseCid(file);
  if (cid !== undefined) return { storage: 'ipfs', cid };
  const [, hash] = SWARM_URL.exec(url) ?? [];
  return hash === undefined ? undefined : { storage: 'swarm', hash: hash.toLowerCase() };
}
