import { type IncomingMessage } from 'node:http';

import { FullmatchError } from '../errors.ts';

/** Returns the error for a body over the limit. */
export function bodyTooLarge(limitBytes: number): FullmatchError {
  return new FullmatchError(
    'request_too_large',
    `The body is larger than the ${limitBytes} bytes that this service reads; send a smaller one.`,
    { details: { limitBytes } },
  );
}

/** Returns whether the declared length of a request is over the limit. */
export function exceedsDeclaredLimit(
  request: Pick<IncomingMessage, 'headers'>,
  limitBytes: number,
): boolean {
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) > limitBytes;
}
