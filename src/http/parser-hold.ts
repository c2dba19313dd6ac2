import { type IncomingMessage } from 'node:http';
import { type Socket } from 'node:net';

/** What a callback answers to stop Node's HTTP parser at the end of a head (`HPE_PAUSED` of llhttp), and its code then. */
const STOP = 21;
const STOPPED = 'HPE_PAUSED';
/** No bytes, but in a buffer that has some: the parser takes one without any for the end of the connection. */
const NO_BYTES = Buffer.alloc(8).subarray(0, 0);

/** How many bytes the parser has read, or why it reads no more. */
type Parsed = number | (Error & { readonly code?: string; readonly bytesParsed?: number });

/** What is used of the parser of a connection. It is an internal of Node. */
interface Parser {
  onIncoming: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
  /** Whether it reads from the connection itself, without a stream. */
  readonly _consumed: boolean;
  execute(bytes: Buffer): Parsed;
  /** A copy of what it reads now. */
  getCurrentBuffer(): Buffer;
  pause(): void;
  resume(): void;
  /** At one of these places, what is told of each reading. */
  [place: number]: (parsed: Parsed) => void;
}

/** When a connection is held, and what may be kept of it. */
export interface HoldRules {
  /** Whether no more requests are to be read now. */
  readonly isFull: () => boolean;
  /** Asks whether bytes may be kept that have been read behind a request; where they may not, the connection is cut. */
  readonly keep: (bytes: Buffer, request: IncomingMessage) => boolean;
  /** Told when bytes that were kept are no longer. */
  readonly drop: (byteLength: number) => void;
}

/**
 * Stops the parser of a connection behind a request, so that no other is made of what one reading has brought, however
 * many came with it: pausing the socket stops only the next reading. What is left is kept as bytes, and nothing more is
 * read of the connection, until {@link goOn}.
 */
export class ParserHold {
  readonly #socket: Socket;
  readonly #parser: Parser;
  readonly #rules: HoldRules;
  readonly #onExecute: (parsed: Parsed) => void;
  /** The request behind which the parser stops. */
  #last: IncomingMessage | undefined;
  #rest: Buffer = NO_BYTES;
  /** How many bytes are kept: the whole of what the rest is a part of. */
  #kept = 0;
  #isHolding = false;

  /** Of a connection whose server is Node's; undefined where that has no such parser. */
  static of(socket: Socket, rules: HoldRules): ParserHold | undefined {
    const { parser } = socket as { readonly parser?: Partial<Parser> };
    const place = (parser?.constructor as { kOnExecute?: unknown } | undefined)?.kOnExecute;
    if (parser === undefined || typeof place !== 'number') return undefined;
    const { onIncoming, execute, getCurrentBuffer, pause, resume } = parser;
    const used = [onIncoming, execute, getCurrentBuffer, pause, resume, parser[place]];
    if (used.some((each) => typeof each !== 'function')) return undefined;
    return new ParserHold(socket, parser as Parser, place, rules);
  }

  private constructor(socket: Socket, parser: Parser, place: number, rules: HoldRules) {
    this.#socket = socket;
    this.#parser = parser;
    this.#rules = rules;
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (request, shouldKeepAlive) => {
      const verdict = onIncoming(request, shouldKeepAlive);
      // Another verdict is that of an upgrade, with which the parser ends.
      if (verdict !== 0 || !parser._consumed || !rules.isFull()) return verdict;
      this.#last = request;
      return STOP;
    };
    const onExecute = parser[place] as (parsed: Parsed) => void;
    this.#onExecute = onExecute;
    parser[place] = (parsed) => {
      const stopped = this.#stoppedBy(parsed);
      // What is left comes before what was read now, which is lost: nothing is to be read while a connection is held.
      if (this.#isHolding) socket.destroy();
      else if (stopped === undefined) onExecute(parsed);
      else this.#begin(parser.getCurrentBuffer().subarray(stopped.at), stopped.request);
    };
    socket.once('close', () => this.#drop());
  }

  /** Whether nothing more is read until {@link goOn}. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Reads on where there is room for another request: what is left first, then the connection. */
  goOn(): void {
    if (!this.#isHolding || this.#isGone || this.#rules.isFull()) return;
    this.#isHolding = false;
    this.#parser.resume();
    const bytes = this.#rest;
    if (bytes.length > 0) {
      const parsed = this.#parser.execute(bytes);
      const stopped = this.#stoppedBy(parsed);
      if (stopped !== undefined) {
        this.#hold(bytes.subarray(stopped.at));
        return;
      }
      this.#drop();
      this.#onExecute(parsed);
    }
    if (!this.#isGone) this.#socket.resume();
  }

  /** Where the parser was stopped here, and behind which request. */
  #stoppedBy(parsed: Parsed): { at: number; request: IncomingMessage } | undefined {
    const request = this.#last;
    this.#last = undefined;
    const isStop = request !== undefined && typeof parsed !== 'number' && parsed.code === STOPPED;
    return isStop ? { at: parsed.bytesParsed ?? 0, request } : undefined;
  }

  #begin(rest: Buffer, request: IncomingMessage): void {
    if (this.#isGone) return;
    if (rest.length > 0 && !this.#rules.keep(rest, request)) {
      this.#socket.destroy();
      return;
    }
    this.#kept = rest.length;
    // Node starts to read again in several places, each of which emits this before anything is read.
    this.#socket.off('resume', this.#stayPaused).on('resume', this.#stayPaused);
    this.#hold(Buffer.from(rest));
  }

  #hold(rest: Buffer): void {
    this.#parser.resume();
    // Ends the request where it has no body, so that it does not count as one that takes long to arrive.
    const parsed = this.#parser.execute(NO_BYTES);
    if (typeof parsed !== 'number') this.#onExecute(parsed);
    if (this.#isGone) return;
    this.#parser.pause();
    this.#rest = rest;
    if (rest.length === 0) this.#drop();
    this.#isHolding = true;
    this.#socket.pause();
  }

  readonly #stayPaused = (): void => {
    // A socket that is paused says so once only; the server stops reading where it hears that.
    if (this.#isHolding) this.#socket.emit('pause');
  };

  #drop(): void {
    if (this.#kept > 0) this.#rules.drop(this.#kept);
    this.#kept = 0;
    this.#rest = NO_BYTES;
  }

  /** Whether the connection, or its parser, is no longer there: Node gives parsers to other connections. */
  get #isGone(): boolean {
    const { parser } = this.#socket as { readonly parser?: unknown };
    return this.#socket.destroyed || parser !== this.#parser;
  }
}
