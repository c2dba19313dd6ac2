import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';

import { type ErrorCode, FullmatchError } from '../errors.ts';
import { dropBody, LINGER_MS } from './drop-body.ts';
import { problemFromError, renderProblem } from './error-response.ts';
import { type ErrorFormat, renderInShape } from './error-format.ts';

/** A response for a connection without a response object, built once so that repeated use is cheap. */
interface Refusal {
  readonly head: string;
  readonly body: Buffer;
}

const MALFORMED = refusalOf('malformed_request', 'What was sent is not an HTTP/1.1 request.');
const CONNECT_REFUSED = refusalOf(
  'method_not_allowed',
  'CONNECT is not answered; this service is not a proxy.',
  { allow: 'GET, HEAD, OPTIONS' },
);
/** Responses by those error codes of Node's parser that do not mean a malformed request. */
const PARSER_FAULTS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refusalOf(
    'request_headers_too_large',
    'The URL and header fields are longer than this service reads; send shorter ones.',
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusalOf(
    'request_too_large',
    'The chunk extensions are longer than this service reads.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: refusalOf(
    'request_timeout',
    'The request did not arrive in time; send it again without pauses.',
  ),
};

function refusalOf(
  code: ErrorCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  const problem = problemFromError(new FullmatchError(code, detail));
  const rendered = renderProblem(problem, { ...headers, connection: 'close' });
  const lines = [
    `HTTP/1.1 ${rendered.status} ${STATUS_CODES[rendered.status] ?? ''}`,
    ...Object.entries(rendered.headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return { head: lines.join('\r\n'), body: rendered.body };
}

/** Answers input that Node's HTTP parser rejected (its `clientError`), and closes the connection. */
export function refuseUnparsed(socket: Duplex, { code = '' }: NodeJS.ErrnoException): void {
  refuseOnSocket(socket, PARSER_FAULTS[code] ?? MALFORMED);
}

/** Answers a CONNECT request, and closes the connection. */
export function refuseConnect(socket: Duplex): void {
  refuseOnSocket(socket, CONNECT_REFUSED);
}

function refuseOnSocket(socket: Duplex, { head, body }: Refusal): void {
  // For a CONNECT, Node hands over the socket without listeners; an unhandled error would end the process.
  socket.on('error', () => socket.destroy());
  const date = `date: ${new Date().toUTCString()}`;
  socket.end(Buffer.concat([Buffer.from(`${head}\r\n${date}\r\n\r\n`, 'latin1'), body]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Answers a request without reading its body, in the applicable error format. Closes the connection once the
 * rest of the body has arrived or the wait for it is over.
 */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  error: FullmatchError,
  shape?: ErrorFormat,
): void {
  const rendered = renderInShape(problemFromError(error), shape, { connection: 'close' });
  response.writeHead(rendered.status, rendered.headers);
  // The response is complete by its Content-Length; only its end, which closes the connection, is delayed.
  response.write(rendered.body);
  request.once('close', () => response.end());
  dropBody(request);
}
