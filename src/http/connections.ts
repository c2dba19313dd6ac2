import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

import { dropBody } from './drop-body.ts';

/** Most unanswered requests on a connection; a client that pipelines more is disconnected. */
const MAX_UNANSWERED = 20;
const SWEEP_MAX_INTERVAL_MS = 5_000;
const STOP_SWEEP_INTERVAL_MS = 25;
/**
 * Consecutive idle sweeps before a connection closes during shutdown: a request may still be in transit.
 * Sweeps are counted instead of milliseconds because everything that has arrived is read between two sweeps,
 * however busy the process is.
 */
const IDLE_SWEEPS = 4;
/** Responses from this size on must be received at a minimum rate. */
const RATED_FROM_BYTES = 65_536;
/** Socket timeouts within the time that a client may receive nothing. */
const TIMEOUT_PERIODS = 3;

/** Limits on how slowly clients may receive responses. */
export interface SlowReaderLimits {
  /** How long a client may receive nothing of its response, in milliseconds. */
  readonly timeoutMs: number;
  /** The same limit while the server closes. */
  readonly stopTimeoutMs: number;
  /** Minimum overall rate for large responses, enforced once they have waited for `timeoutMs`. */
  readonly minBytesPerMs: number;
}

/** Callbacks for events on connections. */
export interface ConnectionEvents {
  /**
   * Called for each request once its response has been received or its connection is gone, with the seconds
   * since the request arrived.
   */
  readonly onAnswered?: (
    request: IncomingMessage,
    response: ServerResponse,
    seconds: number,
  ) => void;
  /** Called for each client that is disconnected for not receiving its response. */
  readonly onSlowReader: () => void;
}

interface Connection {
  readonly socket: Socket;
  /** Responses that are not complete yet, in order, and the arrival time of each request. */
  readonly unanswered: ServerResponse[];
  readonly times: number[];
  /** One listener for the end of all its responses. */
  readonly onClose: (this: ServerResponse) => void;
  /** Bytes read when the last request completed; more bytes mean that another has begun. */
  bytesRead: number;
  /** Whether the socket has a timeout for a client that receives nothing, or sends nothing while the server closes. */
  isTimed: boolean;
  /** Time of its last socket timeout while it had something to receive. */
  timedOutAt: number;
  /** Bytes the client had received when a large response began to wait, and the time of that. */
  rated: { readonly taken: number; readonly since: number } | undefined;
  /** Consecutive sweeps during shutdown that found it idle. */
  idleSweeps: number;
}

/**
 * The open connections of one port. A periodic sweep disconnects clients that do not receive their responses,
 * and closes idle connections during shutdown.
 */
export class Connections {
  readonly #open = new Map<Duplex, Connection>();
  readonly #limits: SlowReaderLimits;
  readonly #events: ConnectionEvents;
  #timer: NodeJS.Timeout;
  #isStopping = false;

  constructor(limits: SlowReaderLimits, events: ConnectionEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#timer = this.#sweepEvery(Math.min(limits.timeoutMs / 4, SWEEP_MAX_INTERVAL_MS));
  }

  /** Tracks a new connection until it closes. */
  add(socket: Socket): void {
    const onAnswered = (response: ServerResponse): void => this.#end(connection, response);
    const connection: Connection = {
      socket,
      unanswered: [],
      times: [],
      onClose() {
        onAnswered(this);
      },
      bytesRead: 0,
      isTimed: false,
      timedOutAt: -Infinity,
      rated: undefined,
      idleSweeps: 0,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
  }

  /**
   * Tracks a request until its response has been received or its connection is gone. Returns false if the
   * request must not be answered, because the client disconnected or pipelined too many requests.
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    // Hot path: allocates no object or closure per request.
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined || socket.destroyed) return false;
    if (connection.unanswered.length >= MAX_UNANSWERED) {
      socket.destroy();
      return false;
    }
    connection.unanswered.push(response);
    connection.times.push(performance.now());
    if (this.#isStopping) response.setHeader('connection', 'close');
    response.on('close', connection.onClose);
    // Before Node's own listener, which would read the rest of a body without a limit.
    if (hasBody(request)) response.prependListener('finish', dropRest);
    return true;
  }

  #end(connection: Connection, response: ServerResponse): void {
    const { socket, unanswered, times } = connection;
    const { req: request } = response;
    // Node ends responses in their order.
    const index = unanswered.indexOf(response);
    if (index === -1) return;
    const [at = 0] = times.splice(index, 1);
    unanswered.splice(index, 1);
    connection.bytesRead = socket.bytesRead;
    // Node sets its own socket timeout for the next request.
    connection.isTimed = false;
    connection.timedOutAt = -Infinity;
    this.#events.onAnswered?.(request, response, (performance.now() - at) / 1000);
    if (request.complete) return;
    request.once('close', () => (connection.bytesRead = socket.bytesRead));
  }

  /** Returns the incomplete responses of a connection. */
  unansweredOn(socket: Duplex): readonly ServerResponse[] {
    return this.#open.get(socket)?.unanswered ?? [];
  }

  /** Ends a connection that has been inactive for its socket timeout. */
  timeOut(socket: Socket): void {
    const connection = this.#open.get(socket);
    const isWaiting = socket.writableLength > 0;
    // The client has received everything so far, and the rest of its response is still being produced.
    if (connection !== undefined && connection.unanswered.length > 0 && !isWaiting) return;
    // After a stall of this process its timers run before it sends anything: a single timeout proves nothing.
    if (connection !== undefined && isWaiting && !isSecondTimeout(connection)) return;
    if (isWaiting) this.#events.onSlowReader();
    socket.destroy();
  }

  /**
   * Lets every connection finish its requests, then closes it. Responses that have not begun say `Connection:
   * close`.
   */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open.values()) {
      connection.isTimed = false;
      // Node closes a connection after such a response, so it must be the last of several.
      const last = connection.unanswered.at(-1);
      if (last?.headersSent === false) last.setHeader('connection', 'close');
    }
    this.endSweeps();
    this.#timer = this.#sweepEvery(STOP_SWEEP_INTERVAL_MS);
  }

  /** Destroys every connection; returns how many there were. */
  destroyAll(): number {
    const count = this.#open.size;
    for (const { socket } of this.#open.values()) socket.destroy();
    return count;
  }

  endSweeps(): void {
    clearInterval(this.#timer);
  }

  #sweepEvery(intervalMs: number): NodeJS.Timeout {
    return setInterval(() => this.#sweep(), intervalMs).unref();
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const { socket } = connection;
      this.#setTimeout(connection);
      if (this.#isTooSlow(connection, now)) {
        this.#events.onSlowReader();
        socket.destroy();
      } else if (this.#isStopping) {
        connection.idleSweeps = isIdle(connection) ? connection.idleSweeps + 1 : 0;
        if (connection.idleSweeps >= IDLE_SWEEPS) socket.destroySoon();
      }
    }
  }

  /**
   * Sets the socket timeout of a client that has something to receive. Only that timeout notices progress
   * within one large write; it compares the remaining bytes once per period, so two timeouts in a row may take
   * up to three periods.
   */
  #setTimeout(connection: Connection): void {
    const { socket, unanswered, isTimed } = connection;
    const isOurTurn = unanswered.length > 0 && socket.writableLength === 0;
    // Until shutdown, Node's own timeouts handle clients that send no request or an incomplete one.
    const isWatched = !isOurTurn && (this.#isStopping || unanswered.length > 0);
    if (isWatched === isTimed) return;
    const { timeoutMs, stopTimeoutMs } = this.#limits;
    const limitMs = this.#isStopping ? Math.min(stopTimeoutMs, timeoutMs) : timeoutMs;
    if (isWatched)
      socket.setTimeout(socket.writableLength > 0 ? limitMs / TIMEOUT_PERIODS : limitMs);
    else if (unanswered.length > 0) socket.setTimeout(0);
    connection.isTimed = isWatched;
  }

  #isTooSlow(connection: Connection, now: number): boolean {
    const { socket, rated } = connection;
    const waiting = socket.writableLength;
    if (waiting === 0) connection.rated = undefined;
    else if (rated !== undefined) {
      // The waiting bytes may be a single write, which counts only once it has been received completely.
      const bytes = socket.bytesWritten - rated.taken;
      const { timeoutMs, minBytesPerMs } = this.#limits;
      return now - rated.since >= timeoutMs + bytes / minBytesPerMs;
    } else if (waiting >= RATED_FROM_BYTES) {
      connection.rated = { taken: socket.bytesWritten - waiting, since: now };
    }
    return false;
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}

/** Drops what the handler of a request did not read of its body. */
function dropRest(this: ServerResponse): void {
  if (!this.req.complete) dropBody(this.req);
}

/** Returns whether a socket also timed out one period before; if not, starts another period. */
function isSecondTimeout(connection: Connection): boolean {
  const { socket, timedOutAt } = connection;
  const periodMs = socket.timeout ?? 0;
  connection.timedOutAt = performance.now();
  if (connection.timedOutAt - timedOutAt < 2 * periodMs) return true;
  socket.setTimeout(periodMs);
  return false;
}

/** Returns whether a connection is waiting for a request. */
function isIdle({ socket, unanswered, bytesRead }: Connection): boolean {
  return unanswered.length === 0 && socket.bytesRead === bytesRead;
}
