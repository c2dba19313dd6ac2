import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';

import { FullmatchError } from '../errors.ts';
import { CountedLine } from '../lib/counted-line.ts';
import { descriptorLimit } from '../lib/descriptor-limit.ts';
import { type Logger } from '../log.ts';
import { CORS_HEADERS } from './answer.ts';
import { bodyTooLarge, declaresTooMuch } from './body-limit.ts';
import { closeServer } from './close-server.ts';
import { Connections } from './connections.ts';
import { MAX_DROPPED_BYTES } from './drop-body.ts';
import { answerProblem, describeProblem } from './error-response.ts';
import { type ErrorShape } from './error-shape.ts';
import { type HostApp, pathOf } from './host-app.ts';
import { type RequestObserver } from './request-durations.ts';
import { refuseConnect, refuseRequest, refuseUnparsed } from './refuse-request.ts';
import { portUnavailable } from './try-port.ts';

/** The longest request line and header fields together; longer ones are answered 431. */
const HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;

/** Limits of one client. Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** The largest body: a request that declares a larger one is answered 413. Readers of bodies enforce it while they read. */
  readonly requestBytes: number;
  /** From the first byte of a request to its last; then 408. */
  readonly requestTimeoutMs: number;
  /** From the first byte of a request to the end of its header fields; then 408 (10 000). */
  readonly headersTimeoutMs?: number;
  /** How long a connection waits for its next request. Clients are told (`Keep-Alive: timeout`). */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of its answer before it is cut (30 000). */
  readonly responseTimeoutMs?: number;
  /** How fast a client has to take large answers once they have waited for that long, in bytes a millisecond (16). */
  readonly responseMinBytesPerMs?: number;
  /** How long a client may neither take nor send while the service stops (2 000). */
  readonly stopTimeoutMs?: number;
}

/** Where to listen, and who observes requests. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly limits: ListenerLimits;
  /** Called for every finished answer; `route` is undefined where no route matches. */
  readonly observe?: RequestObserver;
}

/** An app on a port. */
export interface Listener {
  /** `http://` and where a client on this machine reaches it. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, finishes what has begun, and closes; what is not done after `timeoutMs` is cut.
   * Resolves when the port is free and no connection is left.
   */
  close(timeoutMs: number): Promise<void>;
}

/** Connections that the kernel holds until they are accepted: it drops more, whose clients try again after a second. */
const BACKLOG = 2_048;
const MOST_CONNECTIONS = 5_000;
/** The other descriptors are for the other host, for the database, for endpoints and for compilers. */
const DESCRIPTORS_PER_CONNECTION = 4;
const RESPONSE_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 2_000;
const RESPONSE_MIN_BYTES_PER_MS = 16;
const CHECK_MIN_MS = 50;
const CHECK_MAX_MS = 5_000;

/**
 * Serves an app on a port.
 * @throws FullmatchError `port_unavailable` when the port is taken or may not be used
 */
export async function listen(app: HostApp, options: ListenOptions, log: Logger): Promise<Listener> {
  const { limits, observe } = options;
  const server = createLimitedServer(limits);
  const cuts = new CountedLine((connections) =>
    log.info({ event: 'slow_reader_cut', connections }, 'clients did not take their answers'),
  );
  const connections = new Connections(
    {
      timeoutMs: limits.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS,
      stopTimeoutMs: limits.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      minBytesPerMs: limits.responseMinBytesPerMs ?? RESPONSE_MIN_BYTES_PER_MS,
    },
    {
      onSlowReader: () => cuts.count(),
      ...(observe && {
        onAnswered: (request, response, seconds) =>
          observe(app.routeOf(request.method ?? '', pathOf(request)), response.statusCode, seconds),
      }),
    },
  );
  const serve = createHandler(app, limits, log);
  server.on('connection', (socket) => connections.add(socket));
  server.on('timeout', (socket: Socket) => connections.timeOut(socket));
  server.on('request', (request, response) => {
    if (connections.begin(request, response)) serve(request, response);
  });
  server.on('checkContinue', (request, response) => {
    if (!declaresTooMuch(request, bodyLimitOf(app, limits, request))) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => {
    if (!connections.begin(request, response)) return;
    const detail = 'Of the Expect header only 100-continue is understood.';
    const error = new FullmatchError('expectation_failed', detail);
    refuseRequest(request, response, error, errorShapeOf(app, request));
  });
  answerUnparsed(server, connections);
  try {
    await bind(server, options);
  } catch (error) {
    connections.endSweeps();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const url = `http://${hostOf(options.host)}:${port}`;
  let closing: Promise<void> | undefined;
  const close = async (timeoutMs: number): Promise<void> => {
    await closeServer(server, connections, timeoutMs, (cut) => {
      const facts = { event: 'connections_cut', url, connections: cut };
      log.warn(facts, 'connections were cut because the time to stop was over');
    });
    cuts.close();
  };
  return { url, port, close: (timeoutMs) => (closing ??= close(timeoutMs)) };
}

function createLimitedServer(limits: ListenerLimits): Server {
  const { headersTimeoutMs = HEADERS_TIMEOUT_MS, requestTimeoutMs } = limits;
  // Node refuses a headers timeout above the request timeout.
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.max(CHECK_MIN_MS, Math.min(CHECK_MAX_MS, headersTimeout / 4)),
    // Missing Host fields are refused by us, since Node's own answer has no body and no CORS header.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxConnections = Math.min(
    MOST_CONNECTIONS,
    Math.floor(descriptorLimit() / DESCRIPTORS_PER_CONNECTION),
  );
  return server;
}

function createHandler(
  app: HostApp,
  limits: ListenerLimits,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answerError = (error: unknown): Response =>
    answerProblem(
      describeProblem(
        // The adapter could not make a URL of the request's target and Host.
        error instanceof RequestError ? malformed(`${error.message}.`) : error,
        log,
      ),
    );
  const listener = getRequestListener(
    (request, env) => app.fetch(request, env),
    // Only HTTP/1.0 requests may come without a Host.
    { hostname: 'localhost', errorHandler: answerError, autoCleanupIncoming: false },
  );
  return (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const error = malformed('An HTTP/1.1 request needs a Host field.');
      refuseRequest(request, response, error, errorShapeOf(app, request));
    } else if (declaresTooMuch(request, bodyLimitOf(app, limits, request))) {
      const error = bodyTooLarge(bodyLimitOf(app, limits, request));
      refuseRequest(request, response, error, errorShapeOf(app, request));
    } else if (request.url === '*') {
      // OPTIONS * asks about the server as a whole, not about a path (RFC 9110, 9.3.7).
      response.writeHead(204, { ...CORS_HEADERS, allow: 'GET, HEAD, OPTIONS' }).end();
    } else if (!app.writePrepared(request, response)) {
      void listener(request, response);
    }
  };
}

/** The largest body of a request: some routes take more than others. */
function bodyLimitOf(
  app: HostApp,
  { requestBytes }: ListenerLimits,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): number {
  if (method !== 'POST') return requestBytes;
  return app.bodyLimitOf?.(method, pathOf({ url })) ?? requestBytes;
}

/** The error format of a request that is refused before it reaches the app. */
function errorShapeOf(
  app: HostApp,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): ErrorShape | undefined {
  return app.errorShapeOf?.(method, pathOf({ url }));
}

function malformed(detail: string): FullmatchError {
  return new FullmatchError('malformed_request', detail);
}

/** Answers what never becomes a request: malformed bytes, and CONNECT. */
function answerUnparsed(server: Server, connections: Connections): void {
  /** Up to how many bytes each refused client is read. */
  const refused = new WeakMap<Duplex, number>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const bytesRead = socket instanceof Socket ? socket.bytesRead : 0;
    const endBytes = refused.get(socket);
    // Every further part that a refused client sends is another error; it is dropped until the connection closes.
    if (endBytes !== undefined) {
      if (bytesRead >= endBytes) socket.destroy();
      return;
    }
    refused.set(socket, bytesRead + MAX_DROPPED_BYTES);
    // The refusal would be taken for the answer to a whole request, or be part of one that has begun.
    const isMisplaced = connections
      .unansweredOn(socket)
      .some((response) => response.headersSent || response.req.complete);
    if (!socket.writable || isMisplaced || bytesRead === 0) socket.destroy();
    else refuseUnparsed(socket, error);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuseConnect(socket);
  });
}

/** Opens the port. @throws FullmatchError `port_unavailable` */
async function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  const listening = once(server, 'listening');
  server.listen({ host, port, backlog: BACKLOG });
  try {
    await listening;
  } catch (error) {
    throw portUnavailable({ host, port }, error);
  }
}

/** The host of a URL that reaches this address from this machine. */
export function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
