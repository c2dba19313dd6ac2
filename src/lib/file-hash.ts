import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Returns the hash of a file in lower-case hex. */
export async function hashFile(
  path: string,
  algorithm: 'sha256' | 'md5',
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}
