// Zstandard (RFC 8878), which Node 20 does not include. A library decodes the blocks; what bounds its memory and time
// is here: one block at a time, windows of at most 8 MiB, and the checksum, which the library skips.
import { Decompress } from 'fzstd';
import { createXXHash64 } from 'hash-wasm';
import { EventLoopYielder } from '../lib/event-loop-yielder.ts';

/** Magic_Number of a frame. */
export const ZSTD_MAGIC = 0xfd2fb528;
/** The sixteen magic numbers of skippable frames differ in their last four bits. */
const SKIPPABLE_MAGIC = 0x184d2a50;
/** What RFC 8878, 3.1.1.1.2 asks every decoder to support. The library moves the whole window for each block. */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024;
const MAX_BLOCK_BYTES = 128 * 1024;
const RLE_BLOCK = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const MIN_WINDOW_LOG = 10;
const CHECKSUM_BYTES = 4;

/** Reads an exact number of bytes at a time from a stream of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Whether no byte is left. */
  async isAtEnd(): Promise<boolean> {
    return this.#held.length === 0 && !(await this.#pull());
  }

  /** @throws Error if the stream ends before */
  async take(length: number): Promise<Buffer> {
    while (this.#held.length < length) {
      if (!(await this.#pull())) throw new Error('its Zstandard data is cut off');
    }
    const taken = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return taken;
  }

  async #pull(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    return true;
  }
}

/**
 * Decompresses Zstandard frames.
 * @throws Error if they are damaged or cut off, need a dictionary, or a window larger than 8 MiB
 */
export async function* decompressZstd(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new ByteReader(bytes);
  const pauses = new EventLoopYielder();
  do {
    const magic = await reader.take(4);
    if ((magic.readUInt32LE() & ~0xf) >>> 0 === SKIPPABLE_MAGIC) {
      await skip(reader, (await reader.take(4)).readUInt32LE());
    } else if (magic.readUInt32LE() === ZSTD_MAGIC) yield* decompressFrame(reader, magic, pauses);
    else throw new Error('its Zstandard data is followed by other bytes');
  } while (!(await reader.isAtEnd()));
}

async function skip(reader: ByteReader, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= MAX_BLOCK_BYTES) {
    await reader.take(Math.min(left, MAX_BLOCK_BYTES));
  }
}

async function* decompressFrame(
  reader: ByteReader,
  magic: Buffer,
  pauses: EventLoopYielder,
): AsyncGenerator<Uint8Array, void, undefined> {
  let ready: Uint8Array[] = [];
  const decompress = new Decompress((part) => void ready.push(part));
  const { header, hasChecksum } = await readHeader(reader);
  const hash = hasChecksum ? await createXXHash64() : undefined;
  decompress.push(Buffer.concat([magic, header]));
  for (let isLast = false; !isLast;) {
    const block = await reader.take(3);
    isLast = (block.readUIntLE(0, 3) & 1) === 1;
    const type = (block.readUIntLE(0, 3) >> 1) & 3;
    const size = block.readUIntLE(0, 3) >> 3;
    if (size > MAX_BLOCK_BYTES) throw new Error('a block of its Zstandard data is too large');
    const content = await reader.take(type === RLE_BLOCK ? 1 : size);
    const checksum = await reader.take(isLast && hasChecksum ? CHECKSUM_BYTES : 0);
    decompress.push(Buffer.concat([block, content, checksum]), isLast);
    for (const part of ready) hash?.update(part);
    yield* ready;
    ready = [];
    // Content_Checksum: the low four bytes of the XXH64 hash of the content.
    const sum = isLast ? hash?.digest('binary').subarray(CHECKSUM_BYTES).toReversed() : undefined;
    if (sum && !checksum.equals(sum)) throw new Error('its Zstandard data has another checksum');
    await pauses.take();
  }
}

/** Reads a frame header without its magic number, and checks what it requires of the decoder. */
async function readHeader(
  reader: ByteReader,
): Promise<{ readonly header: Buffer; readonly hasChecksum: boolean }> {
  const descriptor = await reader.take(1);
  const flags = descriptor.readUInt8();
  const isSingleSegment = (flags & 0x20) !== 0;
  const sizeFlag = flags >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const dictionaryBytes = DICTIONARY_BYTES[flags & 3] ?? 0;
  const windowed = await reader.take(isSingleSegment ? 0 : 1);
  const dictionary = await reader.take(dictionaryBytes);
  const size = await reader.take(sizeBytes);
  if (dictionary.some((byte) => byte !== 0))
    throw new Error('its Zstandard data needs a dictionary');
  const window = isSingleSegment ? sizeOf(size) : windowOf(windowed.readUInt8());
  if (window > MAX_WINDOW_BYTES) {
    throw new Error(
      `its Zstandard data needs a window of ${window} bytes; compress it with one of at most 8 MiB, as levels up to 19 without --long do`,
    );
  }
  const header = Buffer.concat([descriptor, windowed, dictionary, size]);
  return { header, hasChecksum: (flags & 4) !== 0 };
}

function windowOf(descriptor: number): number {
  const base = 2 ** (MIN_WINDOW_LOG + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Frame_Content_Size; two bytes have 256 added. */
function sizeOf(bytes: Buffer): number {
  if (bytes.length === 8) return Number(bytes.readBigUInt64LE());
  return bytes.length === 2 ? bytes.readUInt16LE() + 256 : bytes.readUIntLE(0, bytes.length);
}
