import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { createTarDecoder, createTarPacker } from 'modern-tar';

/** Type of a tar entry; types that POSIX does not name are read as `file`. */
export type TarType =
  'file' | 'directory' | 'link' | 'symlink' | 'character-device' | 'block-device' | 'fifo';

/** An entry of a tar archive. Its bytes are read before the next entry is requested; otherwise they are skipped. */
export interface TarEntry extends AsyncIterable<Buffer> {
  readonly name: string;
  readonly type: TarType;
  /** Length in bytes. */
  readonly size: number;
}

/**
 * Reads a tar archive (POSIX ustar and pax, GNU long names) entry by entry.
 * @throws Error if a header is invalid or the archive is truncated; errors of `bytes`
 */
export async function* readTar(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<TarEntry, void, undefined> {
  const entries = ReadableStream.from(bytes).pipeThrough(createTarDecoder({ strict: true }));
  for await (const { header, body } of entries) {
    const { name, size, type = 'file' } = header;
    yield { name, size, type: type as TarType, [Symbol.asyncIterator]: () => buffersOf(body) };
    await body.cancel();
  }
}

async function* buffersOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of body)
    yield Buffer.from(buffer, byteOffset, byteLength);
}

/** A tar archive that is written entry by entry. Equal entries give equal bytes. */
export class TarWriter {
  readonly #packer = createTarPacker();
  /** The bytes of the archive. */
  readonly bytes = Readable.fromWeb(this.#packer.readable as ReadableStream<Uint8Array>);

  /** Adds a file once the entry before it is complete; resolves when the archive can take more. */
  async add(
    name: string,
    size: number,
    content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    mode = 0o644,
  ): Promise<void> {
    const header = { name, size, mode, mtime: new Date(0) };
    const body = this.#packer.controller.add(header).getWriter();
    for await (const chunk of content) await body.write(chunk);
    await body.close();
  }

  /** Completes the archive. */
  end(): void {
    this.#packer.controller.finalize();
  }
}
