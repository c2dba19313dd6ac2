import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { hashFile } from '../../lib/file-hash.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { KeccakStream } from '../../lib/keccak.ts';

/** A cached digest, with the file attributes that detect changes. */
interface FileState {
  readonly identity: string;
  readonly sha256: Promise<string>;
}

const MAX_REMEMBERED = 1000;
const remembered = new LRUCache<string, FileState>({ max: MAX_REMEMBERED });

async function identify(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/**
 * Returns the SHA-256 of a file in lower-case hex, cached until the file changes.
 * @throws the system's error.
 */
export async function sha256OfFile(path: string): Promise<string> {
  const identity = await identify(path);
  const known = remembered.get(path);
  if (known?.identity === identity) return known.sha256;
  const sha256 = hashFile(path, 'sha256');
  remembered.set(path, { identity, sha256 });
  sha256.catch(() => remembered.delete(path));
  return sha256;
}

/** Clears the cache, so that files are read again. */
export function clearDigestCache(): void {
  remembered.clear();
}

/** Returns the Keccak-256 of a file in lower-case hex. Only for versions that publish no other hash. */
export async function keccak256OfFile(path: string): Promise<string> {
  const hash = new KeccakStream();
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return bytesToHex(hash.digest()).slice(2);
}
