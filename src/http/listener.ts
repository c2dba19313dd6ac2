import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';

import { FullmatchError } from '../errors.ts';
import { RateLimitedReport } from '../lib/rate-limited-report.ts';
import { descriptorLimit } from '../lib/descriptor-limit.ts';
import { type Logger } from '../log.ts';
import { CORS_HEADERS } from './answer.ts';
import { bodyTooLarge, exceedsDeclaredLimit } from './body-limit.ts';
import { closeServer } from './close-server.ts';
import { Connections } from './connections.ts';
import { MAX_DROPPED_BYTES } from './drop-body.ts';
import { respondWithProblem, toProblem } from './error-response.ts';
import { type ErrorFormat } from './error-format.ts';
import { type HostApp, pathOf } from './host-app.ts';
import { type RequestObserver } from './request-durations.ts';
import { refuseConnect, refuseRequest, refuseUnparsed } from './refuse-request.ts';
import { portUnavailable } from './try-port.ts';

/** Limit on request line and header fields together; a longer request gets 431. */
const HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;

/** Limits per client. Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** Largest body: a request that declares a larger one gets 413. Body readers enforce it while they read. */
  readonly requestBytes: number;
  /** Time from the first byte of a request to its last; then 408. */
  readonly requestTimeoutMs: number;
  /** Time from the first byte of a request to the end of its header fields; then 408 (10 000). */
  readonly headersTimeoutMs?: number;
  /** How long a connection waits for its next request. Announced as `Keep-Alive: timeout`. */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may receive nothing of its response before it is disconnected (30 000). */
  readonly responseTimeoutMs?: number;
  /**
   * Minimum rate at which a client must receive a large response once it has waited for that time, in bytes
   * per millisecond (16).
   */
  readonly responseMinBytesPerMs?: number;
  /** How long a client may neither receive nor send while the service shuts down (2 000). */
  readonly stopTimeoutMs?: number;
}

/** Address to listen on, and the observer of requests. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly limits: ListenerLimits;
  /** Called for every finished response; `route` is undefined if no route matches. */
  readonly observe?: RequestObserver;
}

/** An app that listens on a port. */
export interface Listener {
  /** URL that reaches the listener from this machine, starting with `http://`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, finishes requests in progress and closes; cuts whatever remains after
   * `timeoutMs`. Resolves once the port is free and no connection is left.
   */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Connections that the kernel queues until they are accepted; it drops further ones, and their clients retry
 * after a second.
 */
const BACKLOG = 2_048;
const MAX_CONNECTIONS = 5_000;
/** Leaves file descriptors for the other host, the database, endpoints and compilers. */
const DESCRIPTORS_PER_CONNECTION = 4;
const RESPONSE_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 2_000;
const RESPONSE_MIN_BYTES_PER_MS = 16;
const CHECK_MIN_MS = 50;
const CHECK_MAX_MS = 5_000;

/**
 * Serves an app on a port.
 * @throws FullmatchError `port_unavailable` if the port is in use or not permitted
 */
export async function listen(app: HostApp, options: ListenOptions, log: Logger): Promise<Listener> {
  const { limits, observe } = options;
  const server = createLimitedServer(limits);
  const cuts = new RateLimitedReport((connections) =>
    log.info(
      { event: 'slow_reader_cut', connections },
      'closed connections of clients that did not read their responses',
    ),
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
    if (!exceedsDeclaredLimit(request, bodyLimitOf(app, limits, request))) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => {
    if (!connections.begin(request, response)) return;
    const detail = 'The only supported Expect header is 100-continue.';
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
  // Node rejects a headers timeout above the request timeout.
  const headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Longest delay until a timeout is noticed.
    connectionsCheckingInterval: Math.max(CHECK_MIN_MS, Math.min(CHECK_MAX_MS, headersTimeout / 4)),
    // We refuse missing Host fields ourselves, since Node's own response has no body and no CORS header.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxConnections = Math.min(
    MAX_CONNECTIONS,
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
    respondWithProblem(
      toProblem(
        // The adapter could not build a URL from the request target and Host.
        error instanceof RequestError ? malformed(`${error.message}.`) : error,
        log,
      ),
    );
  const listener = getRequestListener(
    (request, env) => app.fetch(request, env),
    // Default for HTTP/1.0 requests, the only ones allowed without a Host.
    { hostname: 'localhost', errorHandler: answerError, autoCleanupIncoming: false },
  );
  return (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const error = malformed('An HTTP/1.1 request needs a Host field.');
      refuseRequest(request, response, error, errorShapeOf(app, request));
    } else if (exceedsDeclaredLimit(request, bodyLimitOf(app, limits, request))) {
      const error = bodyTooLarge(bodyLimitOf(app, limits, request));
      refuseRequest(request, response, error, errorShapeOf(app, request));
    } else if (request.url === '*') {
      // OPTIONS * concerns the server as a whole, not a path (RFC 9110, 9.3.7).
      response.writeHead(204, { ...CORS_HEADERS, allow: 'GET, HEAD, OPTIONS' }).end();
    } else if (!app.writePrepared(request, response)) {
      void listener(request, response);
    }
  };
}

/** Returns the body limit of a request; some routes have their own. */
function bodyLimitOf(
  app: HostApp,
  { requestBytes }: ListenerLimits,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): number {
  if (method !== 'POST') return requestBytes;
  return app.bodyLimitOf?.(method, pathOf({ url })) ?? requestBytes;
}

/** Returns the error format for a request that is refused before it reaches the app. */
function errorShapeOf(
  app: HostApp,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): ErrorFormat | undefined {
  return app.errorShapeOf?.(method, pathOf({ url }));
}

function malformed(detail: string): FullmatchError {
  return new FullmatchError('malformed_request', detail);
}

/** Answers input that never becomes a request: malformed bytes, and CONNECT. */
function answerUnparsed(server: Server, connections: Connections): void {
  /** Total bytes up to which each refused client is read. */
  const refused = new WeakMap<Duplex, number>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const bytesRead = socket instanceof Socket ? socket.bytesRead : 0;
    const endBytes = refused.get(socket);
    // Each further chunk from a refused client raises another error; it is dropped until the connection
    // closes.
    if (endBytes !== undefined) {
      if (bytesRead >= endBytes) socket.destroy();
      return;
    }
    refused.set(socket, bytesRead + MAX_DROPPED_BYTES);
    // The refusal would be mistaken for the response to a complete request, or end up inside a response that
    // has begun.
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

/** Returns the URL host that reaches this address from this machine. */
export function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
