import { type IncomingHttpHeaders } from 'node:http';
import { type Readable, type Writable } from 'node:stream';
import { type Agent } from 'undici';
import { hostPortOf } from './address-guard.ts';
import {
  CircuitBreaker,
  type CircuitBreakerOptions,
  type Outcome,
  outcomeOf,
} from './circuit-breaker.ts';
import { endWith, withDeadline } from './deadline.ts';
import { FetchFault } from './fetch-fault.ts';
import {
  assertPublicTarget,
  followRedirect,
  type Hop,
  isRedirect,
  parseTarget,
  refuseAddress,
  shownOrigin,
} from './fetch-target.ts';
import { openDispatcher, type Dispatcher, type DispatcherOptions } from './fetch-dispatcher.ts';
import { type ExchangeAnswer, exchangeMessage } from './guarded-socket.ts';
import { nameFault } from './network-fault.ts';
import {
  ACCEPTED_CODINGS,
  type BodyLimits,
  readBody,
  SinkFailure,
  writeBody,
} from './response-body.ts';
import { parseRetryAfter } from './retry-after.ts';

/** What every request of a guarded fetch is bound to. */
export interface GuardedFetchOptions extends DispatcherOptions {
  /** Hosts that may have private addresses, as `host:port` exactly as a URL names them: `127.0.0.1:8545`. */
  readonly allowPrivate: readonly string[];
  /** Bytes of a body, on the wire and again after decompression. */
  readonly maxBytes: number;
  /** Milliseconds from the call to the last byte of the body, redirects included. */
  readonly deadlineMs: number;
  readonly maxRedirects: number;
  readonly userAgent: string;
  readonly breaker?: Partial<CircuitBreakerOptions>;
}

/** One request. Limits given here may be lower or higher than those of the guarded fetch. */
export interface FetchRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly maxBytes?: number;
  readonly deadlineMs?: number;
  readonly maxRedirects?: number;
  /** Ends the request; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Asks also a host that rests after failures, to see whether they are over; not one that asked to be left alone. */
  readonly probe?: boolean;
}

/** A request for a body that is written to a sink. */
export interface DownloadRequest extends FetchRequest {
  /** Told of the answer before its body comes. */
  readonly onHead?: (head: FetchHead) => void;
}

/** One message to a WebSocket endpoint. */
export type ExchangeRequest = Pick<
  FetchRequest,
  'headers' | 'maxBytes' | 'deadlineMs' | 'signal' | 'probe'
> & {
  readonly body: string;
};

/** The outcome of a message to a WebSocket endpoint. */
export type ExchangeResponse = Pick<FetchResponse, 'status' | 'body' | 'retryAfterMs'>;

/** An answer without its body. Any status is an answer, 404 and 503 too. */
export interface FetchHead {
  readonly status: number;
  /** Names in lower case; a repeated header's values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The URL that answered: after redirects another than the one asked. It may hold keys. */
  readonly url: string;
  readonly redirects: number;
  /** The wait that `Retry-After` asks for. */
  readonly retryAfterMs?: number;
}

export interface FetchResponse extends FetchHead {
  /** Decompressed. */
  readonly body: Buffer;
}

/**
 * The only way out: every byte that the service asks of the network goes through one of these.
 * All methods reject with {@link FetchFault}, or with the reason of the caller's signal.
 */
export interface GuardedFetch {
  /** Asks for a URL and gives the whole answer. */
  fetch(url: string, request?: FetchRequest): Promise<FetchResponse>;
  /**
   * Asks for a URL and writes the body of a 2xx answer to the sink, decompressed, which is ended; of other answers
   * only the head is given, and the sink is left as it was. When the body fails the sink is destroyed; when the sink
   * fails, its error is what this rejects with.
   */
  download(
    url: string,
    sink: Writable,
    request?: DownloadRequest,
  ): Promise<FetchHead & { readonly bytes: number }>;
  /**
   * Sends `body` as one message to a WebSocket endpoint (`ws:` or `wss:`) and gives the first message that comes back,
   * with the status 101; or the status that refused the handshake, without a message. No redirect is followed.
   */
  exchange(url: string, request: ExchangeRequest): Promise<ExchangeResponse>;
  /**
   * Replaces the hosts that may have private addresses (`allowPrivate`): the operator has changed his configuration.
   * Running requests continue. New requests do not use connections that the earlier list allowed.
   * @throws TypeError when an entry is not `host:port`; the list then stays as it was.
   */
  allowOnly(hostPorts: readonly string[]): void;
  /** Ends all connections; requests under way fail. */
  close(): Promise<void>;
}

const SOCKET_SCHEMES: ReadonlySet<string> = new Set(['ws:', 'wss:']);
/** Headers that HTTP itself sets: a caller's would contradict the message. */
const OWN_HEADERS = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
];

function firstHop(url: URL, request: FetchRequest, userAgent: string): Hop {
  const headers: Record<string, string> = { 'user-agent': userAgent };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  for (const name of OWN_HEADERS) {
    if (name in headers) throw new TypeError(`the header ${name} is the guarded fetch's own`);
  }
  const hop: Hop = { url, method: request.method ?? 'GET', headers };
  return request.body === undefined ? hop : { ...hop, body: request.body };
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

type ResponseStatus = Pick<FetchHead, 'status' | 'retryAfterMs'>;

/** A response whose body has not been read, and what bounds the body. */
interface OpenResponse extends BodyLimits {
  readonly head: FetchHead;
  readonly body: Readable;
}

class UndiciGuardedFetch implements GuardedFetch {
  readonly #options: GuardedFetchOptions;
  #dispatcher: Dispatcher;
  /** Agents of earlier lists that still have requests under way. */
  readonly #retiring = new Set<Agent>();
  readonly #breaker: CircuitBreaker;
  readonly #now: () => number;

  constructor(options: GuardedFetchOptions) {
    this.#options = options;
    this.#dispatcher = openDispatcher(options, options.allowPrivate);
    this.#breaker = new CircuitBreaker(options.breaker);
    this.#now = options.breaker?.now ?? Date.now;
  }

  allowOnly(hostPorts: readonly string[]): void {
    const next = openDispatcher(this.#options, hostPorts);
    const { agent } = this.#dispatcher;
    this.#dispatcher = next;
    this.#retiring.add(agent);
    const forget = (): void => void this.#retiring.delete(agent);
    agent.close().then(forget, forget);
  }

  async fetch(url: string, request: FetchRequest = {}): Promise<FetchResponse> {
    return this.#run(url, request, async ({ head, body, ...limits }) => ({
      ...head,
      body: await readBody(body, head.headers['content-encoding'], limits),
    }));
  }

  async download(
    url: string,
    sink: Writable,
    request: DownloadRequest = {},
  ): Promise<FetchHead & { readonly bytes: number }> {
    return this.#run(url, request, async ({ head, body, ...limits }) => {
      request.onHead?.(head);
      if (head.status < 200 || head.status > 299) return { ...head, bytes: 0 };
      const coding = head.headers['content-encoding'];
      return { ...head, bytes: await writeBody(body, coding, sink, limits) };
    });
  }

  async exchange(text: string, request: ExchangeRequest): Promise<ExchangeResponse> {
    const url = parseTarget(text, { schemes: SOCKET_SCHEMES });
    return this.#withDeadline(url, request, async (signal) => {
      this.#assertAllowed(url, url);
      const { head } = await this.#attempt(url, request, signal, async () => {
        const answer = await exchangeMessage({
          url,
          headers: { 'user-agent': this.#options.userAgent, ...request.headers },
          message: request.body,
          maxBytes: request.maxBytes ?? this.#options.maxBytes,
          signal,
          connect: this.#dispatcher.connect,
        });
        return { head: this.#readExchange(answer, shownOrigin(url)) };
      });
      return head;
    });
  }

  #readExchange(answer: ExchangeAnswer, origin: string): ExchangeResponse {
    if (answer.message !== undefined) return { status: 101, body: answer.message };
    const { status } = answer.refusal;
    const headers = plainHeaders(answer.refusal.headers);
    if (isRedirect(status, headers.location)) {
      const message = `${origin} redirects a handshake, which is not followed.`;
      throw new FetchFault('too_many_redirects', message, { origin });
    }
    const retryAfterMs = parseRetryAfter(headers['retry-after'], this.#now());
    const response = { status, body: Buffer.alloc(0) };
    return retryAfterMs === undefined ? response : { ...response, retryAfterMs };
  }

  async close(): Promise<void> {
    await Promise.all([this.#dispatcher.agent, ...this.#retiring].map((agent) => agent.destroy()));
  }

  /** Follows the request to its last response and reads it, all within the deadline. */
  async #run<Result>(
    text: string,
    request: FetchRequest,
    read: (response: OpenResponse) => Promise<Result>,
  ): Promise<Result> {
    const first = firstHop(parseTarget(text), request, this.#options.userAgent);
    const { maxRedirects = this.#options.maxRedirects, maxBytes = this.#options.maxBytes } =
      request;
    return this.#withDeadline(first.url, request, async (signal) => {
      const follow = async (hop: Hop, redirects: number): Promise<Result> => {
        this.#assertAllowed(hop.url, first.url);
        const origin = shownOrigin(hop.url);
        const step = await this.#attempt(hop.url, request, signal, async (onHead) => {
          const { head, body } = await this.#send(hop, redirects, signal);
          onHead();
          const { location } = head.headers;
          try {
            if (isRedirect(head.status, location)) return { head, location };
            return { head, result: await read({ head, body, origin, maxBytes, signal }) };
          } finally {
            body.destroy();
          }
        });
        if ('result' in step) return step.result;
        if (redirects === maxRedirects) throw tooManyRedirects(first.url, maxRedirects);
        return follow(followRedirect(hop, step.head.status, step.location), redirects + 1);
      };
      return follow(first, 0);
    });
  }

  /** A private host answers only to requests that name it: no redirect leads to one from elsewhere. */
  #assertAllowed(url: URL, asked: URL): void {
    const hostPort = hostPortOf(url);
    if (!this.#dispatcher.allowed.has(hostPort)) assertPublicTarget(url);
    else if (hostPort !== hostPortOf(asked)) throw refuseAddress(shownOrigin(url), 'redirect');
  }

  #withDeadline<Result>(
    url: URL,
    { deadlineMs = this.#options.deadlineMs, signal }: FetchRequest,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return withDeadline(shownOrigin(url), deadlineMs, signal, work);
  }

  /** Sends one request to a host unless the host rests, names what fails, and reports the outcome to the breaker. */
  async #attempt<Step extends { readonly head: ResponseStatus }>(
    url: URL,
    { probe }: FetchRequest,
    signal: AbortSignal,
    work: (onHead: () => void) => Promise<Step>,
  ): Promise<Step> {
    const origin = shownOrigin(url);
    signal.throwIfAborted();
    const report = this.#breaker.enter(origin, probe);
    let answered = false;
    try {
      const step = await work(() => (answered = true));
      const { status, retryAfterMs } = step.head;
      report(outcomeOf(status, retryAfterMs), retryAfterMs);
      return step;
    } catch (error) {
      if (error instanceof SinkFailure) {
        report('abandoned');
        throw error.cause;
      }
      const fault = nameFault(error, { origin, signal, answered });
      report(outcomeOfFault(fault));
      throw fault;
    }
  }

  async #send(
    hop: Hop,
    redirects: number,
    signal: AbortSignal,
  ): Promise<Pick<OpenResponse, 'head' | 'body'>> {
    const asking = this.#dispatcher.agent.request({
      origin: hop.url.origin,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.method,
      headers: { ...hop.headers, 'accept-encoding': ACCEPTED_CODINGS },
      body: hop.body ?? null,
      signal,
    });
    const { statusCode: status, headers: received, body } = await endWith(asking, signal);
    // A body that is destroyed says so by an error event, which nobody needs.
    body.on('error', () => undefined);
    const headers = plainHeaders(received);
    const retryAfterMs = parseRetryAfter(headers['retry-after'], this.#now());
    const head = { status, headers, url: hop.url.href, redirects };
    return { head: retryAfterMs === undefined ? head : { ...head, retryAfterMs }, body };
  }
}

function tooManyRedirects(url: URL, maxRedirects: number): FetchFault {
  const origin = shownOrigin(url);
  const message = `${origin} redirects more than ${maxRedirects} times.`;
  return new FetchFault('too_many_redirects', message, { origin });
}

function outcomeOfFault(fault: unknown): Outcome {
  if (!(fault instanceof FetchFault) || fault.code === 'address_not_allowed') return 'abandoned';
  return fault.code === 'response_too_large' ? 'succeeded' : 'failed';
}

/**
 * A fetch that reaches public web hosts only: http and https, no user information, addresses judged when the
 * connection is made, redirects followed by hand and judged again, sizes counted after decompression, a deadline for
 * the whole, and rest for hosts that fail.
 * @throws TypeError when an entry of `allowPrivate` is not `host:port`.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return new UndiciGuardedFetch(options);
}
