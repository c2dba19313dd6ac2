import { type IncomingMessage } from 'node:http';
import { networkOf } from '../lib/client-network.ts';
import { nameOfPeer } from './client-of.ts';

/** For how long one turn of the event loop answers requests before it looks for new ones, in milliseconds. */
const TURN_MS = 10;

interface Waiting {
  readonly request: IncomingMessage;
  readonly answer: () => void;
}

/**
 * Shares the event loop between networks. A request is answered as it comes while the turn of the loop is young. Later
 * ones wait, and are answered in the next turns, one of each network after the other. So many requests that come at
 * once, or that were sent ahead, let others through.
 */
export class LoopShares {
  readonly #waiting = new Map<string, Waiting[]>();
  #turnEnds: number | undefined;

  /** Answers a request now or soon; never where its connection has gone meanwhile. */
  answer(request: IncomingMessage, answer: () => void): void {
    if (this.#isYoung() && this.#waiting.size === 0) answer();
    else this.answerLater(request, answer);
  }

  /** Answers a request in a later turn. */
  answerLater(request: IncomingMessage, answer: () => void): void {
    const network = networkOf(nameOfPeer(request.socket));
    const queue = this.#waiting.get(network);
    if (queue === undefined) this.#waiting.set(network, [{ request, answer }]);
    else queue.push({ request, answer });
    // Whether a turn has begun or not, its end comes.
    this.#isYoung();
  }

  #isYoung(): boolean {
    const now = performance.now();
    if (this.#turnEnds === undefined) {
      this.#turnEnds = now + TURN_MS;
      setImmediate(() => this.#endTurn());
    }
    return now < this.#turnEnds;
  }

  #endTurn(): void {
    this.#turnEnds = undefined;
    if (this.#waiting.size === 0) return;
    // Answering takes a share of its own: where reading takes all of each turn, answers are made all the same.
    while (this.#isYoung() && this.#waiting.size > 0) this.#answerNext();
  }

  #answerNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [network, queue] = first;
    const next = queue.shift();
    this.#waiting.delete(network);
    // Behind all others now.
    if (queue.length > 0) this.#waiting.set(network, queue);
    if (next !== undefined && !next.request.socket.destroyed) next.answer();
  }
}
