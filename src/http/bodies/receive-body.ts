import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import path from 'node:path';
import { finished, type Readable } from 'node:stream';

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
  /** What the connection has received so far, with the framing of chunks, where it is known. */
  readonly wireBytes?: (() => number) | undefined;
  /** Resolves when more of the body may be taken: bodies take turns, and everything else comes between them. */
  readonly turn: () => Promise<void>;
  /** Where temporary files are put. */
  readonly folder: string;
  readonly log: Logger;
}

const BLOCK_BYTES = 65_536;
/**
 * How many bytes may come for one of the body, framing included. A chunk of one byte takes six, and parsing takes time
 * by the chunk. Bytes of later requests on the connection come within the allowance.
 */
const MAX_FRAMING_FACTOR = 3;
const FRAMING_ALLOWANCE_BYTES = 262_144;
const OWNER_ONLY = { folder: 0o700, file: 0o600 };

/**
 * Reads a body into blocks of its own, and into a temporary file once the memory for bodies is taken. Chunks are
 * copied: as they come they may be one byte each, and each would keep an object and a buffer alive.
 * @throws FullmatchError request_too_large, too_many_client_bodies, too_many_bodies, malformed_request for a body that
 * ends before its end and for one in tiny chunks
 */
export async function receiveBody(
  stream: Readable,
  options: ReceiveOptions,
): Promise<ReceivedBody> {
  const body = new GrowingBody(options);
  const { share, wireBytes, turn } = options;
  const wireStart = wireBytes?.() ?? 0;
  try {
    for await (const bytes of gather(stream, share.lost, turn)) {
      await body.add(bytes);
      const received = (wireBytes?.() ?? 0) - wireStart;
      if (received > body.length * MAX_FRAMING_FACTOR + FRAMING_ALLOWANCE_BYTES) throw tinyChunks();
    }
    share.lost.throwIfAborted();
    return body.finish();
  } catch (error) {
    await body.close();
    throw error;
  }
}

/**
 * The bytes of a body, until it ends or loses its room. All that one turn of the event loop brings is taken together:
 * an awaited step for each chunk would cost ten times what parsing it does.
 */
async function* gather(
  stream: Readable,
  lost: AbortSignal,
  turn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let ending: { readonly error: Error | null | undefined } | undefined;
  let wake = (): void => undefined;
  const tell = (): void => wake();
  const unfollow = finished(stream, { writable: false }, (error) => {
    ending = { error };
    tell();
  });
  // What breaks off after the reading ended concerns nobody.
  stream.on('error', () => undefined);
  stream.on('readable', tell);
  lost.addEventListener('abort', tell);
  try {
    for (;;) {
      lost.throwIfAborted();
      const bytes = stream.destroyed ? null : (stream.read() as Uint8Array | null);
      if (bytes !== null) yield bytes;
      else if (ending !== undefined) {
        if (ending.error) throw brokenOff(ending.error);
        return;
      } else await new Promise<void>((resolve) => (wake = resolve));
      await turn();
    }
  } finally {
    lost.removeEventListener('abort', tell);
    stream.off('readable', tell);
    unfollow();
  }
}

function brokenOff(cause: Error): FullmatchError {
  return new FullmatchError('malformed_request', 'The body ended before its end.', { cause });
}

function tinyChunks(): FullmatchError {
  const detail = 'The body comes in chunks of a few bytes each; send larger chunks.';
  return new FullmatchError('malformed_request', detail);
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

  get length(): number {
    return this.#length;
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
