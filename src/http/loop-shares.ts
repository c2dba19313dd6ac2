import { type Socket } from 'node:net';
import { networkOf } from '../lib/client-network.ts';
import { nameOfPeer } from './client-of.ts';

/** For how long one turn of the event loop does work before it looks for what has come, in milliseconds. */
const TURN_MS = 10;
/** Pieces of waiting work in one turn: some cost their time only after it, such as reading. */
const TURN_PIECES = 32;
/** For how long connections are only accepted while they keep coming, in milliseconds. */
const ACCEPTING_MS = 5;

interface Piece {
  readonly socket: Socket;
  readonly work: () => void;
}

/**
 * Shares the event loop between networks. Work for a connection is done as it comes while the turn of the loop is
 * young. Later work waits, and is done in the next turns, one piece of each network after the other.
 *
 * One turn accepts one connection, in whatever order they came. Where many come, turns are kept short, so that none
 * waits for long before its network is known.
 */
export class LoopShares {
  readonly #waiting = new Map<string, Piece[]>();
  #turnEnds: number | undefined;
  /** Turns in a row that accepted a connection, this one included. */
  #accepting = 0;
  #hasAccepted = false;
  #workedAt = 0;

  /** Says that a connection was accepted. @returns whether what it has sent may be read at once. */
  accept(): boolean {
    this.#hasAccepted = true;
    return this.#isYoung() && this.#waiting.size === 0 && this.#accepting < 2;
  }

  /** Does work now or soon; never where its connection has gone meanwhile. */
  run(socket: Socket, work: () => void): void {
    if (this.#isYoung() && this.#waiting.size === 0) work();
    else this.runLater(socket, work);
  }

  /** Does work in a later turn. */
  runLater(socket: Socket, work: () => void): void {
    const network = networkOf(nameOfPeer(socket));
    const queue = this.#waiting.get(network);
    if (queue === undefined) this.#waiting.set(network, [{ socket, work }]);
    else queue.push({ socket, work });
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
    this.#accepting = this.#hasAccepted ? this.#accepting + 1 : 0;
    this.#hasAccepted = false;
    if (this.#waiting.size === 0) {
      if (this.#accepting > 0) this.#isYoung();
      return;
    }
    const isAccepting = this.#accepting > 1;
    // Work that waits has a share of its own: it is done also where accepting or reading would take all time.
    if (isAccepting && performance.now() - this.#workedAt < ACCEPTING_MS) {
      this.#isYoung();
      return;
    }
    const most = isAccepting ? 1 : TURN_PIECES;
    for (let pieces = 0; pieces < most && this.#waiting.size > 0; pieces += 1) {
      if (!this.#isYoung()) break;
      this.#workNext();
    }
    this.#isYoung();
    this.#workedAt = performance.now();
  }

  #workNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [network, queue] = first;
    const next = queue.shift();
    this.#waiting.delete(network);
    // Behind all others now.
    if (queue.length > 0) this.#waiting.set(network, queue);
    if (next !== undefined && !next.socket.destroyed) next.work();
  }
}
