import { type Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { setImmediate as untilRead, setTimeout as wait } from 'node:timers/promises';

/** Requests that a client may send ahead on one connection before their answers are taken. */
const MOST_UNANSWERED = 20;
/** From this many bytes on, an answer is to be taken at a rate. */
const RATED_FROM_BYTES = 65_536;
const SWEEP_MAX_MS = 5_000;
/** How long a stop leaves idle connections open, for requests that are on their way, in milliseconds. */
const IDLE_GRACE_MS = 100;
const DRAIN_STEP_MS = 20;

/** How slowly answers may be taken. Times in milliseconds. */
export interface TakingLimits {
  /** How long nothing may be taken of what waits to be sent. */
  readonly timeoutMs: number;
  /** The same while the service stops. */
  readonly stoppingTimeoutMs: number;
  /** How fast large answers are to be taken on the whole once they have waited for `timeoutMs`. */
  readonly minBytesPerMs: number;
}

/** Told of each request once its answer has been taken, or its connection is gone, with the seconds since it began. */
type Ended = (request: IncomingMessage, response: ServerResponse, seconds: number) => void;

/** A request whose answer has not been taken. */
interface Unanswered {
  readonly response: ServerResponse;
  readonly since: number;
}

interface Connection {
  readonly socket: Socket;
  readonly unanswered: Unanswered[];
  /** Listens to the end of each response. */
  readonly end: (this: ServerResponse) => void;
  /** When it last had nothing to do any more, and what had been read then: more is the beginning of a request. */
  idle: { readonly since: number; readonly read: number };
  /** Bytes that were sent to us and taken from us, and since when there have been no more. */
  progress: { readonly read: number; readonly taken: number; readonly since: number };
  /** What the client had taken when large answers began to wait, and when that was. */
  rated: { readonly taken: number; readonly since: number } | undefined;
}

/** The open connections of one server: requests that are under way, clients that do not take their answers, and the stop. */
export class Connections {
  readonly #server: Server;
  readonly #limits: TakingLimits;
  readonly #ended: Ended;
  readonly #open = new Map<Duplex, Connection>();
  #isStopping = false;

  constructor(server: Server, limits: TakingLimits, ended: Ended) {
    this.#server = server;
    this.#limits = limits;
    this.#ended = ended;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  #add(socket: Socket): void {
    const now = performance.now();
    const end = (response: ServerResponse): void => this.#end(connection, response);
    const connection: Connection = {
      socket,
      unanswered: [],
      end() {
        end(this);
      },
      idle: { read: 0, since: now },
      progress: { read: 0, taken: 0, since: now },
      rated: undefined,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
  }

  /**
   * Follows a request until its answer has been taken or its connection is gone.
   * @returns false where it is not to be answered: its connection is gone, or has too many requests
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(request.socket);
    if (connection === undefined || connection.socket.destroyed) return false;
    if (connection.unanswered.length >= MOST_UNANSWERED) {
      connection.socket.destroy();
      return false;
    }
    connection.unanswered.push({ response, since: performance.now() });
    if (this.#isStopping) response.setHeader('connection', 'close');
    // One function for all responses of a connection: a closure for each costs several times as much.
    response.on('close', connection.end);
    return true;
  }

  #end(connection: Connection, response: ServerResponse): void {
    const { unanswered, socket } = connection;
    const now = performance.now();
    const index = unanswered.findIndex((each) => each.response === response);
    const [{ since } = { since: now }] = unanswered.splice(index, 1);
    if (unanswered.length === 0) connection.idle = { since: now, read: socket.bytesRead };
    this.#ended(response.req, response, (now - since) / 1000);
  }

  /** Whether an answer is on its way on a connection. */
  hasBegunAnswer(socket: Duplex): boolean {
    return this.#open.get(socket)?.unanswered.some(({ response }) => response.headersSent) ?? false;
  }

  /**
   * Cuts clients that do not take their answers, now and then; `onCut` is told of each. A prepared body is one write, so a
   * whole document has `timeoutMs`; a stream has that long for each of its parts. The result ends it.
   */
  cutSlowReaders(onCut: () => void): () => void {
    const sweep = (): void => {
      const now = performance.now();
      for (const connection of this.#open.values()) {
        const waiting = this.#note(connection, now);
        const isStalled = now - connection.progress.since >= this.#limits.timeoutMs;
        if (waiting === 0 || !(isStalled || this.#isTooSlow(connection, now))) continue;
        connection.socket.destroy();
        onCut();
      }
    };
    const timer = setInterval(sweep, Math.min(this.#limits.timeoutMs / 4, SWEEP_MAX_MS));
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Notes how far a connection has come. @returns the bytes that wait to be taken */
  #note(connection: Connection, now: number): number {
    const { socket, progress } = connection;
    const waiting = socket.writableLength;
    const read = socket.bytesRead;
    const taken = socket.bytesWritten - waiting;
    if (read !== progress.read || taken !== progress.taken) {
      connection.progress = { read, taken, since: now };
    }
    if (waiting === 0) connection.rated = undefined;
    else if (waiting >= RATED_FROM_BYTES) connection.rated ??= { taken, since: now };
    return waiting;
  }

  #isTooSlow({ rated, progress }: Connection, now: number): boolean {
    if (rated === undefined) return false;
    const { timeoutMs, minBytesPerMs } = this.#limits;
    return now - rated.since >= timeoutMs + (progress.taken - rated.taken) / minBytesPerMs;
  }

  /**
   * Stops the server. The port closes first: new clients are refused, which is safe to repeat elsewhere. Requests under way
   * are answered with `Connection: close`; connections with nothing to do are closed a moment later, and clients that do not
   * go on sending or taking are cut.
   * @returns how many connections were cut because `timeoutMs` had passed
   */
  async stop(timeoutMs: number): Promise<number> {
    const begun = performance.now();
    const ends = begun + timeoutMs;
    this.#isStopping = true;
    // That of http.Server closes idle connections at once, and with them requests that have come and were not read.
    const isPortClosed = new Promise((resolve) => {
      NetServer.prototype.close.call(this.#server, resolve);
    });
    for (const { unanswered } of this.#open.values()) {
      for (const { response } of unanswered) {
        if (!response.headersSent) response.setHeader('connection', 'close');
      }
    }
    while (this.#open.size > 0 && performance.now() < ends) {
      await wait(DRAIN_STEP_MS);
      // Timers come before sockets in a turn of the event loop: what has come meanwhile is read first.
      await untilRead();
      this.#closeIdle(begun);
      this.#cutStalled();
    }
    const cut = this.#open.size;
    this.#server.closeAllConnections();
    await isPortClosed;
    // Ends the checks of time limits.
    this.#server.close();
    return cut;
  }

  /** Node's closeIdleConnections would close those too whose answer has ended and was not taken. */
  #closeIdle(begun: number): void {
    const latest = performance.now() - IDLE_GRACE_MS;
    for (const { socket, unanswered, idle } of this.#open.values()) {
      const isIdle = unanswered.length === 0 && socket.bytesRead === idle.read;
      if (isIdle && Math.max(begun, idle.since) <= latest) socket.end();
    }
  }

  /** Cuts those with an answer or a part of a request under way that neither take nor send. */
  #cutStalled(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const waiting = this.#note(connection, now);
      const isAtWork = waiting === 0 && connection.unanswered.length > 0;
      const isStalled = now - connection.progress.since >= this.#limits.stoppingTimeoutMs;
      if (isStalled && !isAtWork) connection.socket.destroy();
    }
  }
}
