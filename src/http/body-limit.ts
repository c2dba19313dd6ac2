import { type IncomingMessage } from 'node:http';

import { FullmatchError } from '../errors.ts';

/** The error for a body over the limit. */
export function bodyTooLarge(limitBytes: number): FullmatchError {
  return new FullmatchError(
    'request_too_large',
    `The body is larger than the ${limitBytes} bytes that this service reads; send a smaller one.`,
    { details: { limitBytes } },
  );
}

/** Whether the request says itself that its body is over the limit. */
export function declaresTooMuch(request: IncomingMessage, limitBytes: number): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) > limitBytes;
}

/**
 * The request with a body that fails with `request_too_large` once it has more bytes than the limit. For bodies that
 * come in chunks: the others say their length before.
 */
export function limitBody(request: Request, limitBytes: number): Request {
  if (request.body === null) return request;
  let seen = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      seen += chunk.byteLength;
      if (seen > limitBytes) controller.error(bodyTooLarge(limitBytes));
      else controller.enqueue(chunk);
    },
  });
  return new Request(request.url, {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    body: request.body.pipeThrough(counter),
    duplex: 'half',
  });
}
