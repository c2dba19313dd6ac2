import { type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** How often a drain looks whether it is done, in milliseconds. */
const DRAIN_STEP_MS = 20;
/**
 * How long a drain leaves a connection open that has nothing to do. A client may have sent a request that is still on
 * its way; it is answered, with `Connection: close`.
 */
const IDLE_GRACE_MS = 500;
const SWEEP_MAX_MS = 5_000;

interface ConnectionState {
  readonly responses: Set<ServerResponse>;
  /** When it last had something to do, and how many bytes it had sent us by then. */
  idleSince: number;
  bytesRead: number;
  /** Bytes that the client has taken, and since when it has taken no more, while there is something to take. */
  taken: number;
  takenSince: number;
}

/** What the open connections of one listener are doing. */
export class Connections {
  readonly #states = new Map<Socket, ConnectionState>();
  #draining = false;

  /** The number of open connections. */
  get size(): number {
    return this.#states.size;
  }

  /** Follows a new connection until it closes. */
  add(socket: Socket): void {
    const now = performance.now();
    this.#states.set(socket, {
      responses: new Set(),
      idleSince: now,
      bytesRead: 0,
      taken: 0,
      takenSince: now,
    });
    socket.once('close', () => this.#states.delete(socket));
  }

  /** Follows a request until its answer has been taken or its connection is gone. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const state = this.#states.get(socket);
    if (state === undefined) return;
    state.responses.add(response);
    if (this.#draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      state.responses.delete(response);
      // Before a drain nobody asks since when.
      if (this.#draining) state.idleSince = performance.now();
      state.bytesRead = socket.bytesRead;
    });
  }

  /** The answers that are under way on a connection. */
  responsesOn(socket: Duplex): ReadonlySet<ServerResponse> {
    const state = socket instanceof Socket ? this.#states.get(socket) : undefined;
    return state?.responses ?? new Set();
  }

  /**
   * Cuts clients that do not take their answers: nothing of what waits to be sent was taken for `timeoutMs`. A
   * prepared body is one write, so a whole document has that long; a stream has that long for each of its parts.
   * `onCut` is told of each. The result ends it.
   */
  cutSlowReaders(timeoutMs: number, onCut: (socket: Socket) => void): () => void {
    const sweep = (): void => {
      const now = performance.now();
      for (const [socket, state] of this.#states) {
        const taken = socket.bytesWritten - socket.writableLength;
        if (socket.writableLength === 0 || taken !== state.taken) {
          state.taken = taken;
          state.takenSince = now;
        } else if (now - state.takenSince >= timeoutMs) {
          onCut(socket);
          socket.destroy();
        }
      }
    };
    const timer = setInterval(sweep, Math.min(timeoutMs / 4, SWEEP_MAX_MS));
    timer.unref();
    return () => clearInterval(timer);
  }

  /**
   * Lets every connection finish what it has begun and closes it. Answers not yet begun say `Connection: close`; one
   * with nothing to do is closed once it has been quiet for a while. Resolves when none is left or after `timeoutMs`.
   */
  async drain(timeoutMs: number): Promise<void> {
    const start = performance.now();
    const graceMs = Math.min(IDLE_GRACE_MS, timeoutMs / 2);
    this.#draining = true;
    for (const { responses } of this.#states.values()) {
      for (const response of responses) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
    }
    while (this.#states.size > 0 && performance.now() - start < timeoutMs) {
      const now = performance.now();
      for (const [socket, state] of this.#states) {
        // More bytes than at the last answer are the beginning of a request.
        const idle = state.responses.size === 0 && socket.bytesRead === state.bytesRead;
        if (idle && now - Math.max(start, state.idleSince) >= graceMs) socket.end();
      }
      await wait(DRAIN_STEP_MS);
    }
  }

  /** Cuts every connection; returns how many there were. */
  destroyAll(): number {
    const count = this.#states.size;
    for (const socket of this.#states.keys()) socket.destroy();
    return count;
  }
}
