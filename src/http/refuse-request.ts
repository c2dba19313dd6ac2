import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';

import { type ErrorCode, FullmatchError } from '../errors.ts';
import { problemOf, renderProblem } from './error-response.ts';
import { type ErrorShape, renderShaped } from './error-shape.ts';

/**
 * How long a refused client may go on sending before its connection is cut, in milliseconds. A connection that is
 * closed while bytes arrive is reset, and a reset takes the answer away from the client that has not read it yet.
 */
const LINGER_MS = 500;

/** The codes of Node's parser that mean something other than a malformed request. */
const PARSER_FAULTS: Readonly<Record<string, { code: ErrorCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'request_headers_too_large',
    detail: 'The URL and header fields are longer than this service reads; send shorter ones.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'request_too_large',
    detail: 'The chunk extensions are longer than this service reads.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    detail: 'The request did not arrive in time; send it again without pauses.',
  },
};

const MALFORMED = {
  code: 'malformed_request',
  detail: 'What was sent is no HTTP/1.1 request.',
} as const;

/** The error that answers what Node's HTTP parser refused (its `clientError`). */
export function parserFault(error: NodeJS.ErrnoException): FullmatchError {
  const { code, detail } = PARSER_FAULTS[error.code ?? ''] ?? MALFORMED;
  return new FullmatchError(code, detail);
}

/** Answers on a connection that has no response object, and closes it. */
export function refuseOnSocket(
  socket: Duplex,
  error: FullmatchError,
  headers: Readonly<Record<string, string>> = {},
): void {
  const rendered = renderProblem(problemOf(error), { ...headers, connection: 'close' });
  const lines = [
    `HTTP/1.1 ${rendered.status} ${STATUS_CODES[rendered.status] ?? ''}`,
    `date: ${new Date().toUTCString()}`,
    ...Object.entries(rendered.headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(
    Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rendered.body]),
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Answers a request without reading its body, in the shape of errors that holds for it, and closes the connection. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  error: FullmatchError,
  shape?: ErrorShape,
): void {
  const rendered = renderShaped(problemOf(error), shape, { connection: 'close' });
  response.writeHead(rendered.status, rendered.headers);
  // The answer is complete by its Content-Length; only its end, which closes the connection, waits.
  response.write(rendered.body);
  const timer = setTimeout(() => response.end(), LINGER_MS).unref();
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  request.once('end', finish).once('close', finish).resume();
}
