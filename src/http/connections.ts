import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { FairShares, type Share } from '../lib/fair-shares.ts';
import { nameOfPeer } from './client-of.ts';
import { Cuts } from './cuts.ts';
import { LoopShares } from './loop-shares.ts';
import { ParserHold } from './parser-hold.ts';
import { RequestGate } from './request-gate.ts';
import { requestsIn } from './requests-in.ts';

/** How often a drain looks whether it is done, in milliseconds. */
const DRAIN_STEP_MS = 20;
/**
 * How long a drain leaves a connection open that has nothing to do. A client may have sent a request that is still on
 * its way; it is answered, with `Connection: close`.
 */
const IDLE_GRACE_MS = 500;
const SWEEP_MAX_MS = 5_000;
/**
 * Requests of one connection that wait while more of them are read. Where nothing is read, the end of a connection is
 * noticed only by the next write, so that clients that send a few requests ahead are read on.
 */
const MOST_READ_AHEAD = 4;
/**
 * Requests that one reading of a connection may bring beyond those. Clients that send requests ahead send a few; more
 * come only where somebody floods.
 */
const MOST_SENT_AHEAD = 100;
/** Where the parser cannot be stopped, what one reading brings becomes requests, so that fewer may be unanswered. */
const MOST_UNANSWERED = 20;
/** What requests that wait may hold on all connections, and what one of them holds beside its head. */
const MOST_WAITING_BYTES = 33_554_432;
const REQUEST_BYTES = 2_048;
/** From this many bytes on, an answer is to be taken at a rate. */
const RATED_FROM_BYTES = 65_536;

/** How slowly answers may be taken. */
export interface TakingLimits {
  /** How long nothing may be taken of what waits to be sent. */
  readonly timeoutMs: number;
  /** How fast large answers are to be taken on the whole once they have waited for `timeoutMs`. */
  readonly minBytesPerMs: number;
}

/** Told of each request once its answer has been taken, or its connection is gone, with the seconds since it began. */
type Ended = (request: IncomingMessage, response: ServerResponse, seconds: number) => void;

/** Answers a request. */
type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

/** A request that has come and whose answer has not been taken. */
interface Underway {
  readonly response: ServerResponse;
  /** When it came. */
  readonly at: number;
  /** What is counted of it. */
  readonly bytes: number;
  /** How it is answered, where it waits behind the first. */
  answer: (() => void) | undefined;
}

interface ConnectionState {
  readonly socket: Socket;
  /** The requests that are under way, in their order. */
  readonly underway: Underway[];
  /** Listens to the end of each response. */
  readonly end: (this: ServerResponse) => void;
  /** Stops reading until some of the answers have been taken; there is one once a client has sent requests ahead. */
  hold: ParserHold | undefined;
  /** The bytes of requests that wait behind another, and of what was read with them. */
  readonly waitingBytes: Share;
  /** When it last had something to do, and how many bytes it had sent us by then. */
  idleSince: number;
  bytesRead: number;
  /** Bytes that the client has taken, and since when it has taken no more, while there is something to take. */
  taken: number;
  takenSince: number;
  /** What the client had taken when large answers began to wait, and when that was. */
  rated: { readonly taken: number; readonly since: number } | undefined;
}

/** A connection's state lies on its socket, where a request finds it sooner than in a map. */
const STATE = Symbol('state');
interface Followed {
  [STATE]?: ConnectionState;
}

/** What the open connections of one listener are doing. */
export class Connections {
  /** Holds requests back while the port closes. */
  readonly gate = new RequestGate();
  readonly #states = new Set<ConnectionState>();
  readonly #seats: FairShares;
  readonly #waitingBytes = new FairShares({ total: MOST_WAITING_BYTES, perClient: Infinity });
  readonly #loop = new LoopShares();
  readonly #cuts = new Cuts();
  readonly #ended: Ended;
  #draining = false;

  /** @param seats of all connections of the process, see `openSeats`. */
  constructor(seats: FairShares, ended: Ended) {
    this.#ended = ended;
    this.#seats = seats;
  }

  /** The number of open connections. */
  get size(): number {
    return this.#states.size;
  }

  /**
   * Follows a new connection until it closes. Where as many are open as may be, one of the network that has most of them
   * is cut, first one with nothing to do, see {@link FairShares}.
   */
  add(socket: Socket): void {
    this.gate.count();
    const now = performance.now();
    const end = (response: ServerResponse): void => this.#end(state, response);
    const cut = (): void => void socket.destroy();
    const waitingBytes = this.#waitingBytes.open(nameOfPeer(socket), cut);
    const state: ConnectionState = {
      socket,
      underway: [],
      end() {
        end(this);
      },
      hold: undefined,
      waitingBytes,
      idleSince: now,
      bytesRead: 0,
      taken: 0,
      takenSince: now,
      rated: undefined,
    };
    // The beginning of a request keeps no seat: a client may never send the rest.
    const seat = this.#seats.open(nameOfPeer(socket), cut, () => state.underway.length === 0);
    if (seat.grow(1) !== 'granted') {
      cut();
      return;
    }
    this.#states.add(state);
    (socket as Followed)[STATE] = state;
    socket.once('close', () => {
      seat.release();
      waitingBytes.release();
      this.#states.delete(state);
    });
  }

  /**
   * Answers a request in its {@link LoopShares turn}, and once the answers before it on its connection have been taken: a
   * client that takes nothing, or that sends many requests ahead, has one answer made. It is never answered when its
   * connection is gone. It is followed until its answer has been taken or its connection is gone. From a connection with
   * several requests that wait nothing more is read, and one whose requests hold more than there is room for is cut.
   */
  receive(request: IncomingMessage, response: ServerResponse, answer: Answerer): void {
    this.gate.count();
    const state = stateOf(request.socket);
    if (state === undefined || state.socket.destroyed) return;
    const now = performance.now();
    if (!this.#begin(state, request, response, now)) return;
    // This is the hot path: nothing is kept of a request that is answered at once.
    if (this.gate.isOpen && state.underway.length === 1 && this.#loop.isFree(now)) {
      answer(request, response);
    } else {
      this.gate.pass(() => this.#inOrder(state, response, () => answer(request, response)));
    }
  }

  /** @returns whether it may be answered. */
  #begin(
    state: ConnectionState,
    request: IncomingMessage,
    response: ServerResponse,
    now: number,
  ): boolean {
    const { underway } = state;
    const waits = underway.length > 0;
    const bytes = waits ? bytesOf(request) : 0;
    if (
      underway.length >= MOST_UNANSWERED ||
      (waits && state.waitingBytes.grow(bytes) !== 'granted')
    ) {
      state.socket.destroy();
      return false;
    }
    underway.push({ response, at: now, bytes, answer: undefined });
    if (waits) state.hold ??= holdOf(state);
    if (this.#draining) response.shouldKeepAlive = false;
    // One listener for all that is to be done, and one function for all responses of a connection: a closure that hears
    // `once` costs several times as much.
    response.on('close', state.end);
    return true;
  }

  #end(state: ConnectionState, response: ServerResponse): void {
    const { socket, underway, hold } = state;
    const now = performance.now();
    const ended = takeOut(underway, response);
    const { at, bytes } = ended ?? { at: now, bytes: 0 };
    if (bytes > 0) state.waitingBytes.shrink(bytes);
    this.#ended(response.req, response, (now - at) / 1000);
    if (hold?.isHolding === true) this.#loop.run(socket, () => hold.goOn());
    state.idleSince = now;
    state.bytesRead = socket.bytesRead;
    const [next] = underway;
    const answer = next?.answer;
    if (next === undefined || answer === undefined) return;
    next.answer = undefined;
    answer();
  }

  #inOrder(state: ConnectionState, response: ServerResponse, answer: () => void): void {
    const { socket, underway } = state;
    if (socket.destroyed) return;
    const own = underway.find((each) => each.response === response);
    if (own === undefined || own === underway[0]) this.#loop.run(socket, answer);
    else own.answer = () => this.#loop.runLater(socket, answer);
  }

  /** The answers that are under way on a connection. */
  responsesOn(socket: Duplex): readonly ServerResponse[] {
    return stateOf(socket)?.underway.map(({ response }) => response) ?? [];
  }

  /**
   * Cuts clients that do not take their answers: nothing of what waits to be sent was taken for `timeoutMs`, or large
   * answers have waited for longer than that and were taken too slowly. A prepared body is one write, so a whole
   * document has `timeoutMs`; a stream has that long for each of its parts. `onCut` is told of each. The result ends it.
   */
  cutSlowReaders(limits: TakingLimits, onCut: () => void): () => void {
    const { timeoutMs } = limits;
    const sweep = (): void => {
      const now = performance.now();
      for (const state of this.#states) {
        const { socket } = state;
        const waiting = socket.writableLength;
        const taken = socket.bytesWritten - waiting;
        if (waiting === 0 || taken !== state.taken) {
          state.taken = taken;
          state.takenSince = now;
        }
        if (waiting === 0) state.rated = undefined;
        else if (waiting >= RATED_FROM_BYTES) state.rated ??= { taken, since: now };
        const isDue = now - state.takenSince >= timeoutMs || isTooSlow(state, now, limits);
        if (isDue && !socket.destroyed && this.#cuts.add(socket)) onCut();
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
    for (const { underway } of this.#states) {
      for (const { response } of underway) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
    }
    while (this.#states.size > 0 && performance.now() - start < timeoutMs) {
      const now = performance.now();
      for (const state of this.#states) {
        const idle = isIdle(state);
        if (idle && now - Math.max(start, state.idleSince) >= graceMs) state.socket.end();
      }
      await wait(DRAIN_STEP_MS);
    }
  }

  /** Cuts every connection; returns how many there were. */
  destroyAll(): number {
    const count = this.#states.size;
    for (const { socket } of this.#states) socket.destroy();
    return count;
  }
}

function stateOf(socket: Duplex): ConnectionState | undefined {
  return (socket as Followed)[STATE];
}

/** Stops reading a connection where several of its requests wait. */
function holdOf({ socket, underway, waitingBytes }: ConnectionState): ParserHold | undefined {
  return ParserHold.of(socket, {
    isFull: () => underway.length > MOST_READ_AHEAD || socket.destroyed,
    keep: (bytes, behind) =>
      requestsIn(bytes, behind, MOST_SENT_AHEAD) < MOST_SENT_AHEAD &&
      waitingBytes.grow(bytes.length) === 'granted',
    drop: (byteLength) => waitingBytes.shrink(byteLength),
  });
}

/** Takes a request out of those that are under way; mostly there is one. */
function takeOut(underway: Underway[], response: ServerResponse): Underway | undefined {
  if (underway[0]?.response === response) return underway.shift();
  const index = underway.findIndex((each) => each.response === response);
  return index === -1 ? undefined : underway.splice(index, 1)[0];
}

/** Whether a connection waits for a request. More bytes than at the last answer are the beginning of one. */
function isIdle({ socket, underway, bytesRead }: ConnectionState): boolean {
  return underway.length === 0 && socket.bytesRead === bytesRead;
}

/** What a request holds until it is answered. */
function bytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((bytes, { length }) => bytes + length, REQUEST_BYTES + url.length);
}

function isTooSlow(
  { rated, taken }: ConnectionState,
  now: number,
  { timeoutMs, minBytesPerMs }: TakingLimits,
): boolean {
  if (rated === undefined) return false;
  return now - rated.since >= timeoutMs + (taken - rated.taken) / minBytesPerMs;
}
