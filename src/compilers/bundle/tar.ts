import { type FileHandle, open } from 'node:fs/promises';

/** A regular file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** Reads its bytes; must be consumed before the next entry. */
  readonly chunks: () => AsyncGenerator<Buffer>;
}

/** The reason why an archive cannot be read. */
class TarFault extends Error {
  override readonly name = 'TarFault';
}

const BLOCK = 512;
const CHUNK_BYTES = 1 << 20;
const NAME_BYTES = 100;
const CHECKSUM = { at: 148, bytes: 8 } as const;
const SIZE = { at: 124, bytes: 12 } as const;
const TYPE_AT = 156;
const MAGIC = { at: 257, text: 'ustar' } as const;
const PREFIX = { at: 345, bytes: 155 } as const;
const PLAIN_TYPES: ReadonlySet<number> = new Set([0, '0'.charCodeAt(0)]);

/** Builds the header of a regular file (POSIX ustar); deterministic. */
export function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES) throw new TarFault(`${name} is too long a name.`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, SIZE.at);
  header.write('00000000000\0', 136);
  header.write('0', TYPE_AT);
  header.write(`${MAGIC.text}\0` + '00', MAGIC.at);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM.at);
  return header;
}

/** Returns the padding after a file's last block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The end marker of an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** Computes the checksum of a header, with spaces in place of the checksum field. */
function checksumOf(header: Buffer): number {
  const { at, bytes } = CHECKSUM;
  let sum = bytes * ' '.charCodeAt(0);
  for (let index = 0; index < BLOCK; index += 1) {
    if (index < at || index >= at + bytes) sum += header[index] ?? 0;
  }
  return sum;
}

/**
 * Yields the regular files of an archive in order. Rejects links, folders, devices and extended headers:
 * bundles have none, and tar readers interpret some of them differently.
 * @throws TarFault
 */
export async function* readTar(file: string): AsyncGenerator<TarEntry> {
  const handle = await open(file, 'r');
  try {
    const { size: total } = await handle.stat();
    for (let at = 0; at < total;) {
      const header = await readBytes(handle, at, BLOCK);
      if (header.every((byte) => byte === 0)) return;
      const { name, size } = readHeader(header);
      const start = at + BLOCK;
      if (start + size > total) throw new TarFault(`${name} is cut off.`);
      yield { name, size, chunks: () => readChunks(handle, start, size) };
      at = start + size + tarPadding(size).length;
    }
    throw new TarFault('it is cut off.');
  } finally {
    await handle.close();
  }
}

function readHeader(header: Buffer): { readonly name: string; readonly size: number } {
  const nul = header.indexOf(0);
  const name = header.toString('latin1', 0, nul < 0 ? NAME_BYTES : Math.min(nul, NAME_BYTES));
  const sum = octal(header, CHECKSUM.at, CHECKSUM.bytes);
  if (
    sum !== checksumOf(header) ||
    header.toString('latin1', MAGIC.at, MAGIC.at + 5) !== MAGIC.text
  ) {
    throw new TarFault('it is not a tar archive.');
  }
  const size = octal(header, SIZE.at, SIZE.bytes);
  const isPlain = PLAIN_TYPES.has(header[TYPE_AT] ?? 0);
  const hasPrefix = header.subarray(PREFIX.at, PREFIX.at + PREFIX.bytes).some((byte) => byte !== 0);
  if (!isPlain || hasPrefix || size === undefined) {
    throw new TarFault(`${JSON.stringify(name)} is not a plain file.`);
  }
  return { name, size };
}

function octal(header: Buffer, at: number, bytes: number): number | undefined {
  const digits = /^ *([0-7]{1,11})[ \0]*$/.exec(header.toString('latin1', at, at + bytes))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

async function readBytes(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead !== length) throw new TarFault('it is cut off.');
  return buffer;
}

async function* readChunks(
  handle: FileHandle,
  start: number,
  size: number,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    yield await readBytes(handle, start + at, Math.min(CHUNK_BYTES, size - at));
  }
}
