import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import zlib from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** An entry of a test archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly type?: Header['type'];
  readonly linkname?: string;
  readonly content?: Buffer | string;
}

const TOO_LARGE = 33 * 2 ** 20;

/** The entries below a folder, as written by `tar`: links as links, and a folder before its contents. */
export async function entriesBelow(root: string, name = ''): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  for (const child of (await readdir(join(root, name))).sort()) {
    const path = name === '' ? child : `${name}/${child}`;
    const stat = await lstat(join(root, path));
    if (stat.isDirectory()) {
      entries.push({ name: `${path}/`, type: 'directory' }, ...(await entriesBelow(root, path)));
    } else if (stat.isSymbolicLink()) {
      entries.push({ name: path, type: 'symlink', linkname: await readlink(join(root, path)) });
    } else {
      // Test trees may contain a sparse file; a little more than any limit is enough.
      const isHuge = stat.size > TOO_LARGE;
      entries.push({
        name: path,
        content: isHuge ? Buffer.alloc(TOO_LARGE) : await readFile(join(root, path)),
      });
    }
  }
  return entries;
}

/** Builds a tar archive of the entries. */
export async function packArchive(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const archive = pack();
  const packed = buffer(archive as AsyncIterable<Buffer>);
  for (const { content, ...header } of entries) {
    archive.entry(header, content ?? '');
  }
  archive.finalize();
  return packed;
}

/**
 * Compresses with Zstandard: with Node's own implementation if it has one (22.15), otherwise as one frame of
 * raw blocks (RFC 8878, 3.1.1.2).
 */
export function compressZstd(bytes: Buffer): Buffer {
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };
  if (zstdCompressSync !== undefined) return zstdCompressSync(bytes);
  const size = 100_000;
  const blocks = Array.from({ length: Math.max(1, Math.ceil(bytes.length / size)) }, (_, index) => {
    const block = bytes.subarray(index * size, (index + 1) * size);
    const isLast = (index + 1) * size >= bytes.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (isLast ? 1 : 0), 0, 3);
    return Buffer.concat([header, block]);
  });
  // No size and no checksum, and a window of 1 MiB.
  return Buffer.concat([Buffer.from('28b52ffd0050', 'hex'), ...blocks]);
}
