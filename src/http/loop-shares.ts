import { type Socket } from 'node:net';
import { NetworkTurns } from '../lib/network-turns.ts';
import { nameOfPeer } from './client-of.ts';

/** For how long one turn of the event loop does work before it looks for what has come, in milliseconds. */
const TURN_MS = 2;

interface Piece {
  readonly work: () => void;
  /** Drops it when its connection has gone. */
  readonly drop: () => void;
  readonly socket: Socket;
}

/**
 * Shares the event loop between networks. Work for a connection is done as it comes while the turn of the loop is
 * young. Later work waits, and is done in the next turns, one piece of each network after the other.
 */
export class LoopShares {
  readonly #waiting = new NetworkTurns<Piece>();
  #turnEnds: number | undefined;

  /** Does work now or soon; never where its connection has gone meanwhile. */
  run(socket: Socket, work: () => void): void {
    if (this.isFree()) work();
    else this.runLater(socket, work);
  }

  /** Whether work may be done now: the turn is young, and nothing waits. */
  isFree(now = performance.now()): boolean {
    return this.#isYoung(now) && this.#waiting.isEmpty;
  }

  /** Does work in a later turn. */
  runLater(socket: Socket, work: () => void): void {
    if (socket.destroyed) return;
    const drop = (): void => void remove();
    const piece: Piece = { work, drop, socket };
    const remove = this.#waiting.add(nameOfPeer(socket), piece);
    socket.once('close', drop);
    // Whether a turn has begun or not, its end comes.
    this.#isYoung();
  }

  #isYoung(now = performance.now()): boolean {
    if (this.#turnEnds === undefined) {
      this.#turnEnds = now + TURN_MS;
      setImmediate(() => this.#endTurn());
    }
    return now < this.#turnEnds;
  }

  #endTurn(): void {
    this.#turnEnds = undefined;
    // Where something waits the next turn begins here, and its end comes.
    while (!this.#waiting.isEmpty && this.#isYoung()) this.#workNext();
  }

  #workNext(): void {
    const piece = this.#waiting.next();
    if (piece === undefined) return;
    piece.socket.off('close', piece.drop);
    if (!piece.socket.destroyed) piece.work();
  }
}
