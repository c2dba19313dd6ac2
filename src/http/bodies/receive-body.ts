import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import path from 'node:path';

import { FullmatchError, messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { bodyTooLarge } from '../body-limit.ts';
import { type BodyShare, tooManyBodies } from './body-budget.ts';

/** A body as a thread takes it: blocks of memory, which it takes over, or an open file. */
export type BodyBytes =
  { readonly blocks: readonly Uint8Array[] } | { readonly file: number; readonly length: number };

/** A body that has come whole. */
export interface ReceivedBody {
  readonly bytes: BodyBytes;
  readonly length: number;
  /** Lets go of the bytes. */
  close(): Promise<void>;
}

/** What is needed to receive a body. */
export interface ReceiveOptions {
  /** The largest body, in bytes. */
  readonly limitBytes: number;
  /** The length that the request says, if it says one. */
  readonly declaredBytes?: number | undefined;
  readonly share: BodyShare;
  /** Where temporary files are put. */
  readonly folder: string;
  readonly log: Logger;
}

const BLOCK_BYTES = 65_536;
const OWNER_ONLY = { folder: 0o700, file: 0o600 };

/**
 * Reads a body into blocks of its own, and into a temporary file once the memory for bodies is taken. Chunks are
 * copied: as they come they may be one byte each, and each would keep an object and a buffer alive.
 * @throws FullmatchError request_too_large, too_many_client_bodies, too_many_bodies, malformed_request for a body that
 * ends before its end
 */
export async function receiveBody(
  chunks: AsyncIterable<Uint8Array>,
  options: ReceiveOptions,
): Promise<ReceivedBody> {
  const body = new GrowingBody(options);
  try {
    for await (const chunk of readChunks(chunks, options.share.lost)) await body.add(chunk);
    options.share.lost.throwIfAborted();
    return body.finish();
  } catch (error) {
    await body.close();
    throw error;
  }
}

/** The chunks, until the body loses its room. What else breaks them off is the client's doing. */
async function* readChunks(
  chunks: AsyncIterable<Uint8Array>,
  lost: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const losing = new Promise<never>((_resolve, reject) => {
    const fail = (): void => reject(lost.reason as Error);
    if (lost.aborted) fail();
    else lost.addEventListener('abort', fail, { once: true });
  });
  losing.catch(() => undefined);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), losing]);
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    throw new FullmatchError('malformed_request', 'The body ended before its end.', {
      cause: error,
    });
  } finally {
    // Not awaited: a chunk that never comes would keep it.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** A body while it comes. */
class GrowingBody {
  readonly #options: ReceiveOptions;
  #blocks: Buffer[] = [];
  /** Bytes of the last block that hold something. */
  #filled = 0;
  #length = 0;
  #file: FileHandle | undefined;

  constructor(options: ReceiveOptions) {
    this.#options = options;
  }

  async add(chunk: Uint8Array): Promise<void> {
    const { limitBytes, share } = this.#options;
    if (this.#length + chunk.length > limitBytes) throw bodyTooLarge(limitBytes);
    if (this.#file !== undefined) {
      share.takeSpool(chunk.length);
      await this.#write(this.#file, chunk);
      this.#length += chunk.length;
      return;
    }
    for (let at = 0; at < chunk.length;) {
      const block = this.#roomyBlock();
      if (block === undefined) {
        await this.#spill();
        return this.add(chunk.subarray(at));
      }
      const part = chunk.subarray(at, at + block.length - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.length;
      this.#length += part.length;
      at += part.length;
    }
  }

  finish(): ReceivedBody {
    const length = this.#length;
    const bytes = this.#file === undefined ? this.#filledBlocks() : { file: this.#file.fd, length };
    return { bytes, length, close: () => this.close() };
  }

  async close(): Promise<void> {
    this.#blocks = [];
    this.#options.share.release();
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #filledBlocks(): { readonly blocks: readonly Uint8Array[] } {
    const last = this.#blocks.length - 1;
    const blocks = this.#blocks.map((block, index) =>
      index === last ? block.subarray(0, this.#filled) : block,
    );
    return { blocks };
  }

  /** A block with room, or undefined where no more memory may be taken. */
  #roomyBlock(): Buffer | undefined {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#filled < last.length) return last;
    const { declaredBytes = Infinity, share } = this.#options;
    const left = declaredBytes - this.#length;
    const size = left > 0 ? Math.min(BLOCK_BYTES, left) : BLOCK_BYTES;
    if (!share.takeMemory(size)) return undefined;
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#filled = 0;
    return block;
  }

  /** Moves what is in memory to a file. */
  async #spill(): Promise<void> {
    const { share, folder, log } = this.#options;
    const { blocks } = this.#filledBlocks();
    share.releaseMemory();
    this.#blocks = [];
    share.takeSpool(this.#length);
    try {
      this.#file = await openUnnamedFile(folder);
    } catch (error) {
      log.warn({ event: 'body_spool_failed', folder, error: messageOf(error) }, 'no spool file');
      throw tooManyBodies();
    }
    for (const block of blocks) await this.#write(this.#file, block);
  }

  async #write(file: FileHandle, bytes: Uint8Array): Promise<void> {
    try {
      await file.writeFile(bytes);
    } catch (error) {
      const facts = { event: 'body_spool_failed', error: messageOf(error) };
      this.#options.log.warn(facts, 'a body could not be written to its spool file');
      throw tooManyBodies();
    }
  }
}

/** A file that has no name any more: it is gone when it is closed, and when the process ends in whatever way. */
async function openUnnamedFile(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY.folder });
  const name = path.join(folder, `body-${randomUUID()}`);
  const file = await open(name, 'wx+', OWNER_ONLY.file);
  try {
    await unlink(name);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}
