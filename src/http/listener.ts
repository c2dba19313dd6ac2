import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, Server as NetServer, Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';

import { FullmatchError } from '../errors.ts';
import { CountedLine } from '../lib/counted-line.ts';
import { type FairShares } from '../lib/fair-shares.ts';
import { type Logger } from '../log.ts';
import { type AcceptedPlace, type AcceptedPort, type Acceptor } from './acceptor/acceptor.ts';
import { CORS_HEADERS } from './answer.ts';
import { BodyDrain } from './body-drain.ts';
import { bodyTooLarge, declaresTooMuch } from './body-limit.ts';
import { closeServer } from './close-server.ts';
import { openSeats } from './connection-seats.ts';
import { Connections } from './connections.ts';
import { answerProblem, describeProblem } from './error-response.ts';
import { type ErrorShape } from './error-shape.ts';
import { type HostApp, pathOf } from './host-app.ts';
import { type RequestObserver } from './request-durations.ts';
import { refuseConnect, refuseRequest, refuseUnparsed } from './refuse-request.ts';
import { portUnavailable } from './try-port.ts';

/** What one client may cost. Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** The largest body; a request that says a larger one is answered 413. Who reads a body holds it to its limit. */
  readonly requestBytes: number;
  /** The longest request line and header fields together; longer ones are answered 431. */
  readonly headerBytes: number;
  /** From the first byte of a request to its last; then 408. */
  readonly requestTimeoutMs: number;
  /** From the first byte of a request to the end of its header fields; then 408. */
  readonly headersTimeoutMs: number;
  /** How long a connection waits for its next request. Clients are told (`Keep-Alive: timeout`). */
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of its answer before it is cut (30 000). */
  readonly responseTimeoutMs?: number;
  /** How fast a client has to take large answers once they have waited for that long, in bytes a millisecond (16). */
  readonly responseMinBytesPerMs?: number;
}

/** Where to listen, and what is told of requests. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly limits: ListenerLimits;
  /** Called for every finished answer; its route is undefined when nothing answers there. */
  readonly observe?: RequestObserver;
  /** The seats of its connections, which hosts share; without them it has its own. */
  readonly seats?: FairShares;
  /** Who accepts its connections; without one they are accepted here, one in a turn of the event loop. */
  readonly acceptor?: Acceptor;
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
const RESPONSE_TIMEOUT_MS = 30_000;
const RESPONSE_MIN_BYTES_PER_MS = 16;
const CHECK_MIN_MS = 50;
const CHECK_MAX_MS = 5_000;

/**
 * Serves an app on a port.
 * @throws FullmatchError `port_unavailable` when the port is taken or may not be used
 */
export async function listen(app: HostApp, options: ListenOptions, log: Logger): Promise<Listener> {
  const { limits } = options;
  const server = createLimitedServer(limits);
  const drain = new BodyDrain();
  const connections = new Connections(
    options.seats ?? openSeats(log),
    (request, response, seconds) => {
      if (!request.complete) drain.add(request);
      if (options.observe === undefined) return;
      const route = app.routeOf(request.method ?? '', pathOf(request));
      options.observe(route, response.statusCode, seconds);
    },
  );
  const serve = createHandler(app, limits, drain, log);
  server.on('connection', (socket) => connections.add(socket));
  server.on('request', (request, response) => connections.receive(request, response, serve));
  server.on('checkContinue', (request, response) => {
    if (!declaresTooMuch(request, bodyLimitOf(app, limits, request))) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => {
    const detail = 'Of the Expect header only 100-continue is understood.';
    const error = new FullmatchError('expectation_failed', detail);
    connections.receive(request, response, () =>
      refuseRequest(request, response, drain, error, errorShapeOf(app, request)),
    );
  });
  answerUnparsed(server, connections);
  const cuts = new CountedLine((cut) =>
    log.info({ event: 'slow_reader_cut', connections: cut }, 'clients did not take their answers'),
  );
  const stopCutting = connections.cutSlowReaders(
    {
      timeoutMs: limits.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS,
      minBytesPerMs: limits.responseMinBytesPerMs ?? RESPONSE_MIN_BYTES_PER_MS,
    },
    () => cuts.count(),
  );
  let accepted: AcceptedPort;
  try {
    accepted = await bind(server, options);
  } catch (error) {
    stopCutting();
    throw error;
  }
  const { port } = accepted;
  let closing: Promise<void> | undefined;
  const url = `http://${hostOf(options.host)}:${port}`;
  const close = async (timeoutMs: number): Promise<void> => {
    await closeServer(server, { accepted, connections }, timeoutMs, (cut) => {
      log.warn({ event: 'connections_cut', url, connections: cut }, 'drain ran out of time');
    });
    stopCutting();
    cuts.close();
  };
  return { url, port, close: (timeoutMs) => (closing ??= close(timeoutMs)) };
}

function createLimitedServer(limits: ListenerLimits): Server {
  // Node refuses a headers timeout above the request timeout.
  const headersTimeout = Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs);
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // How late a timeout may be noticed.
    connectionsCheckingInterval: Math.max(CHECK_MIN_MS, Math.min(CHECK_MAX_MS, headersTimeout / 4)),
    // Missing Host fields are refused by us, since Node's own answer has no body and no CORS header.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxRequestsPerSocket = 0;
  return server;
}

function createHandler(
  app: HostApp,
  limits: ListenerLimits,
  drain: BodyDrain,
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
      refuseRequest(request, response, drain, error, errorShapeOf(app, request));
    } else if (declaresTooMuch(request, bodyLimitOf(app, limits, request))) {
      const error = bodyTooLarge(bodyLimitOf(app, limits, request));
      refuseRequest(request, response, drain, error, errorShapeOf(app, request));
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

/** How errors are said to this request before it has reached the app. */
function errorShapeOf(
  app: HostApp,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): ErrorShape | undefined {
  return app.errorShapeOf?.(method, pathOf({ url }));
}

function malformed(detail: string): FullmatchError {
  return new FullmatchError('malformed_request', detail);
}

/** Answers what never becomes a request: bytes that are none, and CONNECT. */
function answerUnparsed(server: Server, connections: Connections): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Every further byte of a refused client is another error; it is dropped until the connection closes.
    if (refused.has(socket)) return;
    refused.add(socket);
    const begun = connections.responsesOn(socket).some((response) => response.headersSent);
    // Nobody waits for an answer on a connection that is gone, that never said anything, or that is in one already.
    const silent = socket instanceof Socket && socket.bytesRead === 0;
    if (!socket.writable || begun || silent) socket.destroy();
    else refuseUnparsed(socket, error);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuseConnect(socket);
  });
}

/** Opens the port. @throws FullmatchError `port_unavailable` */
async function bind(
  server: Server,
  { host, port, acceptor }: ListenOptions,
): Promise<AcceptedPort> {
  const place = { host, port, backlog: BACKLOG };
  try {
    return await (acceptor === undefined
      ? acceptHere(server, place)
      : acceptElsewhere(server, place, acceptor));
  } catch (error) {
    throw portUnavailable(place, error);
  }
}

async function acceptHere(server: Server, place: AcceptedPlace): Promise<AcceptedPort> {
  const listening = once(server, 'listening');
  server.listen(place);
  await listening;
  const { port } = server.address() as AddressInfo;
  // That of http.Server cuts connections, see closeServer.
  const closePort = NetServer.prototype.close.bind(server) as () => void;
  return {
    port,
    close: () => {
      closePort();
      return Promise.resolve();
    },
  };
}

async function acceptElsewhere(
  server: Server,
  place: AcceptedPlace,
  acceptor: Acceptor,
): Promise<AcceptedPort> {
  const accepted = await acceptor.listen(place, (socket) => {
    // As Node's servers make their sockets.
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
  });
  // With this Node begins to look at the times that requests take.
  server.emit('listening');
  return accepted;
}

/** The host of a URL that reaches this address from this machine. */
export function hostOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}
