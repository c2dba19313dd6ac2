import { type IncomingMessage } from 'node:http';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const BODY_FIELD = /(?:^|\n)(?:content-length|transfer-encoding)[ \t]*:/i;

/**
 * How many heads of requests end in bytes that came behind a request, up to a bound. They are looked for, not parsed:
 * what comes behind one with a body is not counted.
 */
export function requestsIn(bytes: Buffer, behind: IncomingMessage, bound: number): number {
  const { headers } = behind;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
    return 0;
  let start = 0;
  for (let count = 0; count < bound; count += 1) {
    const end = bytes.indexOf(END_OF_HEAD, start);
    if (end === -1) return count;
    if (BODY_FIELD.test(bytes.toString('latin1', start, end))) return count + 1;
    start = end + END_OF_HEAD.length;
  }
  return bound;
}
