import { finished, type Readable } from 'node:stream';

import { FullmatchError } from '../../errors.ts';
import { bodyTooLarge } from '../body-limit.ts';

/** Options for receiving a body. */
export interface ReceiveOptions {
  /** The largest body, in bytes. */
  readonly limitBytes: number;
  /** Declared length, if the request has one. */
  readonly declaredBytes?: number | undefined;
}

const BLOCK_BYTES = 65_536;

/**
 * Reads a body into its own memory blocks. Chunks are copied: they may be a single byte each, and each would
 * keep an object and a buffer alive.
 * @throws FullmatchError request_too_large; malformed_request for a truncated body
 */
export function receiveBody(
  stream: Readable,
  { limitBytes, declaredBytes }: ReceiveOptions,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const body = new GrowingBody(declaredBytes);
  return new Promise((resolve, reject) => {
    const take = (chunk: Uint8Array): void => {
      if (body.length + chunk.length > limitBytes) end(bodyTooLarge(limitBytes));
      else body.add(chunk);
    };
    const end = (error?: Error): void => {
      unfollow();
      stream.off('data', take);
      if (error === undefined) {
        resolve(body.blocks);
        return;
      }
      // Ignore errors after the reading has ended.
      stream.on('error', () => undefined);
      stream.pause();
      reject(error);
    };
    const unfollow = finished(stream, { writable: false }, (error) =>
      end(error ? brokenOff(error) : undefined),
    );
    stream.on('data', take);
  });
}

function brokenOff(cause: Error): FullmatchError {
  return new FullmatchError('malformed_request', 'The body ended before its end.', { cause });
}

/** A body that is being received. */
class GrowingBody {
  readonly #declaredBytes: number;
  readonly #blocks: Buffer<ArrayBuffer>[] = [];
  /** Bytes used in the last block. */
  #filled = 0;
  length = 0;

  constructor(declaredBytes = Infinity) {
    this.#declaredBytes = declaredBytes;
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const block = this.#roomyBlock();
      const part = chunk.subarray(at, at + block.length - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.length;
      this.length += part.length;
      at += part.length;
    }
  }

  get blocks(): readonly Uint8Array<ArrayBuffer>[] {
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, index) =>
      index === last ? block.subarray(0, this.#filled) : block,
    );
  }

  #roomyBlock(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#filled < last.length) return last;
    const left = this.#declaredBytes - this.length;
    const size = left > 0 ? Math.min(BLOCK_BYTES, left) : BLOCK_BYTES;
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#filled = 0;
    return block;
  }
}
