import { type IncomingMessage } from 'node:http';

/**
 * How long a client may go on sending a body that is not read, in milliseconds. A connection that is closed while
 * bytes arrive is reset, and a reset takes the answer away from the client that has not read it yet.
 */
export const LINGER_MS = 500;
/** How long nothing is read after a connection that brought nothing, in milliseconds. */
const REST_MS = 5;

interface Draining {
  readonly request: IncomingMessage;
  readonly until: number;
}

/**
 * Takes what clients send after their answer: the rest of bodies that nobody reads. One connection is read in each turn
 * of the event loop, so many clients that go on sending take little time from others.
 */
export class BodyDrain {
  readonly #queue: Draining[] = [];
  #isRunning = false;

  /** Drops the rest of a body, whose connection ends when it takes longer than a client may go on sending. */
  add(request: IncomingMessage): void {
    request.on('error', () => undefined);
    const until = performance.now() + LINGER_MS;
    // Node lets the body flow once its answer has been sent, and begins to read where it flows: the pause comes then.
    setImmediate(() => {
      request.resume();
      setImmediate(() => {
        request.socket.pause();
        this.#queue.push({ request, until });
        if (this.#isRunning) return;
        this.#isRunning = true;
        this.#readNext();
      });
    });
  }

  #readNext(): void {
    const next = this.#queue.shift();
    if (next === undefined) {
      this.#isRunning = false;
      return;
    }
    const { request, until } = next;
    const { socket } = request;
    const { bytesRead } = socket;
    socket.resume();
    // Reading comes before the immediates of the next turn.
    setImmediate(() =>
      setImmediate(() => {
        if (!request.complete && !socket.destroyed) {
          if (performance.now() >= until) socket.destroySoon();
          else {
            socket.pause();
            this.#queue.push(next);
          }
        }
        // A client that sends nothing is not worth a turn of its own again and again.
        if (socket.bytesRead === bytesRead) setTimeout(() => this.#readNext(), REST_MS);
        else this.#readNext();
      }),
    );
  }
}
