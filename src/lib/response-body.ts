import { type Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { FetchFault } from './fetch-fault.ts';

/** What bounds the body of one response. */
export interface BodyLimits {
  /** `scheme://host:port`, for messages. */
  readonly origin: string;
  /** Bytes allowed on the wire, and again after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The codings that the guarded fetch asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** The chunks that hold anything, as long as they are within the limit. */
async function* capChunks(
  stream: Readable,
  { origin, maxBytes }: BodyLimits,
): AsyncGenerator<Buffer, void, undefined> {
  let total = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxBytes) {
      const message = `The response of ${origin} is larger than ${maxBytes} bytes.`;
      throw new FetchFault('response_too_large', message, { origin });
    }
    if (chunk.length > 0) yield chunk;
  }
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
        `${origin} responded with an unrequested content coding.`,
        { origin, reason: 'content_coding' },
      );
  }
}

async function* prepend(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}

/** The chunks of a body, decompressed. An empty body has none, whatever coding is named. */
async function* decodeBody(
  body: Readable,
  contentEncoding: string | undefined,
  limits: BodyLimits,
): AsyncGenerator<Buffer, void, undefined> {
  const received = capChunks(body, limits);
  const first = await received.next();
  if (first.done === true) return;
  const chunks = prepend(first.value, received);
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') {
    yield* chunks;
    return;
  }
  const decoder = createDecoder(coding, first.value[0] ?? 0, limits.origin);
  // A failure destroys the decoder, so whoever reads from it gets the error.
  pipeline(chunks, decoder).catch(() => undefined);
  yield* capChunks(decoder, limits);
}

/** The sink of a body failed, such as a full disk: a fault of ours, not of the host. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure';
}

/**
 * Writes a body to `sink`, decompressed and counted, and ends the sink. Resolves with the bytes written. Whatever
 * fails, the sink is destroyed; the body is the caller's to destroy.
 * @throws FetchFault response_too_large before more than the limit is written, malformed_response for a coding nobody
 * asked for; SinkFailure with its cause; errors of the body and of decompression as they are.
 */
export async function writeBody(
  body: Readable,
  contentEncoding: string | undefined,
  sink: Writable,
  limits: BodyLimits,
): Promise<number> {
  let bytes = 0;
  let bodyFailed = false;
  let sinkFailed = false;
  // A body that fails takes the sink with it, so only the first failure tells which of the two it was.
  sink.once('error', () => (sinkFailed = !bodyFailed));
  const readChunks = async function* (): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of decodeBody(body, contentEncoding, limits)) {
        bytes += chunk.length;
        yield chunk;
      }
    } catch (error) {
      bodyFailed = true;
      throw error;
    }
  };
  try {
    await pipeline(readChunks, sink, { signal: limits.signal });
  } catch (error) {
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
  for await (const chunk of decodeBody(body, contentEncoding, limits)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
