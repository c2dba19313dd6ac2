import { type Readable, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { FetchFault } from './fetch-fault.ts';

/** Limits of a response body. */
export interface BodyLimits {
  /** `scheme://host:port`, for messages. */
  readonly origin: string;
  /** Size limit in bytes, on the wire and again after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The content codings that the guarded fetch requests. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** Yields the non-empty chunks up to the size limit. */
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

/** Creates the decoder of a content coding. Multiple codings are not supported; no proper server sends them. */
function createDecoder(coding: string, firstByte: number, origin: string): Transform {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      // The coding is the zlib format (RFC 9110, 8.4.1.2), but some servers omit the zlib header.
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

/** Yields the decompressed chunks of a body. An empty body yields none, whatever its coding. */
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
  // An error destroys the decoder, so its reader gets the error.
  pipeline(chunks, decoder).catch(() => undefined);
  yield* capChunks(decoder, limits);
}

/** The sink of a body failed, for example because of a full disk: a local fault, not one of the host. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure';
}

/**
 * Writes the decompressed body to `sink` within the limits, and ends the sink. Resolves with the number of
 * bytes written. On any error the sink is destroyed; the caller destroys the body.
 * @throws FetchFault response_too_large before more than the limit is written, malformed_response for an
 * unrequested coding; SinkFailure with its cause; errors of the body and of decompression unchanged.
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
  // A failing body destroys the sink too, so the first failure identifies the cause.
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

/** Reads the whole body into memory, under the rules of {@link writeBody}. */
export async function readBody(
  body: Readable,
  contentEncoding: string | undefined,
  limits: BodyLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of decodeBody(body, contentEncoding, limits)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
