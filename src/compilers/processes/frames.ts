import { type Readable } from 'node:stream';

/** A response frame of a soljson child process; the protocol is described in child/soljson-child.mjs. */
export interface Frame {
  readonly kind: string;
  readonly payload: Buffer;
}

const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;

/** Encodes the input, and the root source if any, for a soljson child process. */
export function encodeRequest(input: Buffer, rootSource?: string): Buffer {
  const root = Buffer.from(rootSource ?? '');
  const head = Buffer.alloc(2 * LENGTH_BYTES);
  head.writeUInt32BE(LENGTH_BYTES + root.length + input.length, 0);
  head.writeUInt32BE(rootSource === undefined ? 0 : root.length + 1, LENGTH_BYTES);
  return Buffer.concat([head, root, input]);
}

/** Reads frames from a stream. Never buffers a frame that exceeds the limit: `onTooLarge` ends its sender. */
export class FrameReader {
  readonly #maxPayloadBytes: number;
  readonly #onTooLarge: (bytes: number) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  #waiting: ((frame: Frame) => void) | undefined;
  readonly #ready: Frame[] = [];

  constructor(stream: Readable, maxPayloadBytes: number, onTooLarge: (bytes: number) => void) {
    this.#maxPayloadBytes = maxPayloadBytes;
    this.#onTooLarge = onTooLarge;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    // A broken stream means that the process has ended, which is reported elsewhere.
    stream.on('error', () => undefined);
  }

  /** Returns the next frame; only one call may wait at a time. Never settles if the stream ends first. */
  next(): Promise<Frame> {
    const frame = this.#ready.shift();
    if (frame !== undefined) return Promise.resolve(frame);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= HEAD_BYTES) {
      if ((this.#chunks[0]?.length ?? 0) < HEAD_BYTES) this.#chunks = [Buffer.concat(this.#chunks)];
      const bytes = this.#chunks[0]?.readUInt32BE(1) ?? 0;
      if (bytes > this.#maxPayloadBytes) {
        this.#chunks = [];
        this.#length = 0;
        this.#onTooLarge(bytes);
        return;
      }
      if (this.#length < HEAD_BYTES + bytes) return;
      const all = Buffer.concat(this.#chunks);
      const rest = all.subarray(HEAD_BYTES + bytes);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
      this.#deliver({
        kind: all.toString('latin1', 0, 1),
        payload: all.subarray(HEAD_BYTES, HEAD_BYTES + bytes),
      });
    }
  }

  #deliver(frame: Frame): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#ready.push(frame);
    else waiting(frame);
  }
}
