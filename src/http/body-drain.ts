import { type IncomingMessage } from 'node:http';
import { NetworkTurns } from '../lib/network-turns.ts';
import { nameOfPeer } from './client-of.ts';

/**
 * How long a client may go on sending a body that is not read, in milliseconds. A connection that is closed while
 * bytes arrive is reset, and a reset takes the answer away from the client that has not read it yet.
 */
export const LINGER_MS = 500;
/** How long a connection that brought nothing is not read, in milliseconds: at first, twice as long each time, at most. */
const REST_MS = 5;
const MOST_REST_MS = 40;

interface Draining {
  readonly request: IncomingMessage;
  /** Ends its connection when it takes longer than a client may go on sending. */
  readonly timer: NodeJS.Timeout;
  restMs: number;
}

/**
 * Takes what clients send after their answer: the rest of bodies that nobody reads. One connection is read in each turn
 * of the event loop, so many clients that go on sending take little time from others, and networks take turns.
 */
export class BodyDrain {
  readonly #waiting = new NetworkTurns<Draining>();
  #isRunning = false;

  /** Drops the rest of a body, whose connection ends when it takes longer than a client may go on sending. */
  add(request: IncomingMessage): void {
    request.on('error', () => undefined);
    const timer = setTimeout(() => request.socket.destroySoon(), LINGER_MS);
    // Node lets the body flow once its answer has been sent, and begins to read where it flows: the pause comes then.
    setImmediate(() => {
      request.resume();
      setImmediate(() => this.#wait({ request, timer, restMs: REST_MS }));
    });
  }

  /** Lets a connection wait for its turn, unless its body has ended. */
  #wait(draining: Draining): void {
    const { request, timer } = draining;
    if (request.complete || request.socket.destroyed) {
      clearTimeout(timer);
      return;
    }
    request.socket.pause();
    this.#waiting.add(nameOfPeer(request.socket), draining);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#readNext();
  }

  #readNext(): void {
    const next = this.#waiting.next();
    if (next === undefined) {
      this.#isRunning = false;
      return;
    }
    const { socket } = next.request;
    const { bytesRead } = socket;
    socket.resume();
    // Reading comes before the immediates of the next turn.
    setImmediate(() =>
      setImmediate(() => {
        if (socket.bytesRead === bytesRead) this.#rest(next);
        else this.#wait(next);
        this.#readNext();
      }),
    );
  }

  /** A client that sends nothing is not worth a turn again and again. */
  #rest(draining: Draining): void {
    draining.request.socket.pause();
    setTimeout(() => this.#wait(draining), draining.restMs);
    draining.restMs = Math.min(draining.restMs * 2, MOST_REST_MS);
  }
}
