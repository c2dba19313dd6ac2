import { type Socket } from 'node:net';
import { networkOf } from '../lib/client-network.ts';
import { nameOfPeer } from './client-of.ts';

/** For how long one turn of the event loop does work before it looks for what has come, in milliseconds. */
const TURN_MS = 10;
/** While connections keep coming: for how long they are only accepted, and for how long work is done then. */
const ACCEPTING_MS = 5;
const TURN_BETWEEN_MS = 0.3;

interface Piece {
  readonly work: () => void;
  /** Drops it when its connection has gone. */
  readonly drop: () => void;
  readonly socket: Socket;
}

/**
 * Shares the event loop between networks. Work for a connection is done as it comes while the turn of the loop is
 * young. Later work waits, and is done in the next turns, one piece of each network after the other.
 *
 * One turn accepts one connection, in whatever order they came. Where many come, turns are kept short, so that none
 * waits for long before its network is known.
 */
export class LoopShares {
  readonly #waiting = new Map<string, Set<Piece>>();
  #turnEnds: number | undefined;
  /** Turns in a row that accepted a connection. */
  #accepting = 0;
  #hasAccepted = false;
  #workedAt = 0;

  /** Says that a connection was accepted. */
  accepted(): void {
    this.#hasAccepted = true;
    this.#isYoung();
  }

  /** Does work now or soon; never where its connection has gone meanwhile. */
  run(socket: Socket, work: () => void): void {
    if (this.#isYoung() && this.#waiting.size === 0) work();
    else this.runLater(socket, work);
  }

  /** Does work in a later turn. */
  runLater(socket: Socket, work: () => void): void {
    if (socket.destroyed) return;
    const network = networkOf(nameOfPeer(socket));
    const pieces = this.#waiting.get(network) ?? new Set();
    this.#waiting.set(network, pieces);
    const drop = (): void => {
      pieces.delete(piece);
      if (pieces.size === 0 && this.#waiting.get(network) === pieces) this.#waiting.delete(network);
    };
    const piece: Piece = { work, drop, socket };
    pieces.add(piece);
    socket.once('close', drop);
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
    if (this.#waiting.size === 0 && this.#accepting === 0) return;
    // The next turn begins here, and its end comes.
    this.#isYoung();
    const now = performance.now();
    const isAccepting = this.#accepting > 1;
    // Work that waits has a share of its own: it is done also where accepting or reading would take all time.
    if (isAccepting && now - this.#workedAt < ACCEPTING_MS) return;
    const until = now + (isAccepting ? TURN_BETWEEN_MS : TURN_MS);
    while (this.#waiting.size > 0 && performance.now() < until) this.#workNext();
    this.#workedAt = performance.now();
  }

  #workNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [network, pieces] = first;
    const [piece] = pieces;
    // Behind all others now.
    this.#waiting.delete(network);
    if (piece === undefined) return;
    pieces.delete(piece);
    if (pieces.size > 0) this.#waiting.set(network, pieces);
    piece.socket.off('close', piece.drop);
    if (!piece.socket.destroyed) piece.work();
  }
}
