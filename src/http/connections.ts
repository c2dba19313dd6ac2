import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

import { dropBody } from './drop-body.ts';

/** A client that pipelines more requests than this is cut. */
const MAX_UNANSWERED = 20;
const SWEEP_MAX_INTERVAL_MS = 5_000;
const STOP_SWEEP_INTERVAL_MS = 25;
/**
 * For how many sweeps in a row a connection is idle before a stop closes it: its client may have sent a request that is
 * still on its way. Sweeps are counted, not milliseconds: between two of them all that has arrived is read, however busy
 * the process is.
 */
const IDLE_SWEEPS = 4;
/** From this many bytes on, an answer has to be taken at a rate. */
const RATED_FROM_BYTES = 65_536;

/** How slowly clients may take their answers. */
export interface SlowReaderLimits {
  /** How long a client may take nothing of its answer, in milliseconds. */
  readonly timeoutMs: number;
  /** The same while the port closes. */
  readonly stopTimeoutMs: number;
  /** How fast large answers are to be taken on the whole, once they have waited for `timeoutMs`. */
  readonly minBytesPerMs: number;
}

/** Who is told what happens on connections. */
export interface ConnectionEvents {
  /** Called for each request once its answer has been taken, or its connection is gone, with the seconds since it came. */
  readonly onAnswered?: (
    request: IncomingMessage,
    response: ServerResponse,
    seconds: number,
  ) => void;
  /** Called for each client that is cut because it does not take its answer. */
  readonly onSlowReader: () => void;
}

interface Connection {
  readonly socket: Socket;
  /** Its requests that have no whole answer yet, in their order, and when each came. */
  readonly unanswered: ServerResponse[];
  readonly times: number[];
  /** One listener for the ends of all its responses. */
  readonly onClose: (this: ServerResponse) => void;
  /** What had been read when the last request was done with: more bytes are the beginning of another. */
  bytesRead: number;
  /** Whether its socket has a timeout for a client that takes nothing, or sends nothing while the port closes. */
  isTimed: boolean;
  /** How much the client had taken when large answers began to wait, and when that was. */
  rated: { readonly taken: number; readonly since: number } | undefined;
  /** Sweeps in a row that found it idle while the port closes. */
  idleSweeps: number;
}

/**
 * The open connections of one port. One timer sweeps over them: it cuts clients that do not take their answers, and
 * closes idle connections while the port closes.
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

  /** Follows a new connection until it closes. */
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
      rated: undefined,
      idleSweeps: 0,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
  }

  /**
   * Follows a request until its answer has been taken or its connection is gone. Returns whether it is to be answered:
   * it is not where its client has left, or has sent too many requests ahead.
   */
  begin({ socket }: IncomingMessage, response: ServerResponse): boolean {
    // This is the hot path: no object or function is made for a request.
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
    return true;
  }

  #end(connection: Connection, response: ServerResponse): void {
    const { socket, unanswered, times } = connection;
    const { req: request } = response;
    // Node ends them in their order.
    const index = unanswered.indexOf(response);
    if (index === -1) return;
    const [at = 0] = times.splice(index, 1);
    unanswered.splice(index, 1);
    connection.bytesRead = socket.bytesRead;
    // Node gives the socket a timeout of its own for the next request.
    connection.isTimed = false;
    this.#events.onAnswered?.(request, response, (performance.now() - at) / 1000);
    if (request.complete) return;
    request.once('close', () => (connection.bytesRead = socket.bytesRead));
    dropBody(request);
  }

  /** The answers that a connection waits for. */
  unansweredOn(socket: Duplex): readonly ServerResponse[] {
    return this.#open.get(socket)?.unanswered ?? [];
  }

  /** Ends a connection on which nothing has happened for the timeout of its socket. */
  timeOut(socket: Socket): void {
    const connection = this.#open.get(socket);
    const isWaiting = socket.writableLength > 0;
    // It has taken what there was, and the rest of its answer is still being made.
    if (connection !== undefined && connection.unanswered.length > 0 && !isWaiting) return;
    if (isWaiting) this.#events.onSlowReader();
    socket.destroy();
  }

  /** Lets every connection finish what it has begun, and closes it. Answers not yet begun say `Connection: close`. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#open.values()) {
      connection.isTimed = false;
      // Node closes a connection behind such an answer, so of several it is the last.
      const last = connection.unanswered.at(-1);
      if (last?.headersSent === false) last.setHeader('connection', 'close');
    }
    this.endSweeps();
    this.#timer = this.#sweepEvery(STOP_SWEEP_INTERVAL_MS);
  }

  /** Cuts every connection; returns how many there were. */
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
   * Has Node watch a client that has something to take. Only its socket timeout sees a client take part of one large
   * write; it compares what is left after each period, so that it takes up to two periods to notice.
   */
  #setTimeout(connection: Connection): void {
    const { socket, unanswered, isTimed } = connection;
    const isOurTurn = unanswered.length > 0 && socket.writableLength === 0;
    // Until the port closes, Node's own timeouts end those that send no request, or only a part of one.
    const isWatched = !isOurTurn && (this.#isStopping || unanswered.length > 0);
    if (isWatched === isTimed) return;
    const { timeoutMs, stopTimeoutMs } = this.#limits;
    const limitMs = this.#isStopping ? Math.min(stopTimeoutMs, timeoutMs) : timeoutMs;
    if (isWatched) socket.setTimeout(socket.writableLength > 0 ? limitMs / 2 : limitMs);
    else if (unanswered.length > 0) socket.setTimeout(0);
    connection.isTimed = isWatched;
  }

  #isTooSlow(connection: Connection, now: number): boolean {
    const { socket, rated } = connection;
    const waiting = socket.writableLength;
    if (waiting === 0) connection.rated = undefined;
    else if (rated !== undefined) {
      // What waits may be one write, of which no part counts before all of it has been taken.
      const bytes = socket.bytesWritten - rated.taken;
      const { timeoutMs, minBytesPerMs } = this.#limits;
      return now - rated.since >= timeoutMs + bytes / minBytesPerMs;
    } else if (waiting >= RATED_FROM_BYTES) {
      connection.rated = { taken: socket.bytesWritten - waiting, since: now };
    }
    return false;
  }
}

/** Whether a connection waits for a request. */
function isIdle({ socket, unanswered, bytesRead }: Connection): boolean {
  return unanswered.length === 0 && socket.bytesRead === bytesRead;
}
