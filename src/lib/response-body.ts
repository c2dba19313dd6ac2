import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { FetchFault } from './fetch-fault.ts';

interface BodyLimits {
  /** `scheme://host:port`, for messages. */
  readonly origin: string;
  /** Bytes allowed on the wire, and again after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The codings that the guarded fetch asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

function tooLarge({ origin, maxBytes }: BodyLimits): FetchFault {
  return new FetchFault(
    'response_too_large',
    `The answer of ${origin} is larger than ${maxBytes} bytes.`,
    { origin },
  );
}

/** Counts what passes; what is more than the limit ends the body at once, and with it the connection. */
function createCap(body: Readable, limits: BodyLimits): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      total += chunk.length;
      if (total <= limits.maxBytes) {
        callback(null, chunk);
      } else {
        body.destroy();
        callback(tooLarge(limits));
      }
    },
  });
}

/** The stream that undoes a content coding. More than one coding is nothing that a sound server sends. */
function createDecoder(coding: string, firstByte: number, origin: string): Transform {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      // It is zlib's format (RFC 9110 §8.4.1.2), but some servers send it without zlib's header.
      return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
    default:
      throw new FetchFault(
        'malformed_response',
        `${origin} answers in a content coding that was not asked for.`,
        { origin, reason: 'content_coding' },
      );
  }
}

/** The first chunk that holds anything; undefined for an empty body, which decoders take for a broken one. */
async function readFirst(chunks: AsyncIterator<unknown>): Promise<Buffer | undefined> {
  for (;;) {
    const next: IteratorResult<unknown, unknown> = await chunks.next();
    if (next.done === true) return undefined;
    if (Buffer.isBuffer(next.value) && next.value.length > 0) return next.value;
  }
}

async function* joinChunks(
  first: Buffer | undefined,
  rest: AsyncIterator<unknown>,
): AsyncGenerator<unknown, void, undefined> {
  if (first === undefined) return;
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** The sink of a body failed, such as a full disk: a fault of ours, not of the host. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure';
}

/**
 * Writes a body to `sink`, decompressed and counted, and ends the sink. Resolves with the bytes written.
 * Whatever fails, body and sink are destroyed, and with the body its connection.
 * @throws FetchFault response_too_large before more than the limit is written, malformed_response for a coding nobody
 * asked for; SinkFailure with its cause; errors of the body and of decompression as they are.
 */
export async function writeBody(
  body: Readable,
  contentEncoding: string | undefined,
  sink: Writable,
  limits: BodyLimits,
): Promise<number> {
  const chunks = body[Symbol.asyncIterator]();
  let bytes = 0;
  let sinkFailed = false;
  try {
    const first = await readFirst(chunks);
    const coding = contentEncoding?.trim().toLowerCase() ?? '';
    const plain = first === undefined || coding === '' || coding === 'identity';
    const decoding = plain
      ? []
      : [createDecoder(coding, first[0] ?? 0, limits.origin), createCap(body, limits)];
    const count = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        bytes += chunk.length;
        callback(null, chunk);
      },
    });
    const stages = [Readable.from(joinChunks(first, chunks)), createCap(body, limits), ...decoding];
    // The first to fail takes all others with it, so only the first event tells who it was.
    let failed = false;
    for (const stage of stages) stage.once('error', () => (failed = true));
    sink.once('error', () => (sinkFailed = !failed));
    await pipeline([...stages, count, sink], { signal: limits.signal });
  } catch (error) {
    body.destroy();
    sink.destroy();
    if (sinkFailed && !limits.signal.aborted) {
      throw new SinkFailure('the sink of a body failed', { cause: error });
    }
    throw error;
  }
  return bytes;
}

/** The whole body in memory, by the rules of {@link writeBody}. */
export async function readBody(
  body: Readable,
  contentEncoding: string | undefined,
  limits: BodyLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      chunks.push(chunk);
      callback();
    },
  });
  await writeBody(body, contentEncoding, sink, limits);
  return Buffer.concat(chunks);
}
