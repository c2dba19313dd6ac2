import { type IncomingHttpHeaders } from 'node:http';
import { type Readable, type Writable } from 'node:stream';
import { hostPortOf } from './address-guard.ts';
import {
  CircuitBreaker,
  type CircuitBreakerOptions,
  type Outcome,
  outcomeOf,
} from './circuit-breaker.ts';
import { abortable, withDeadline } from './deadline.ts';
import { FetchFault } from './fetch-fault.ts';
import {
  assertPublicTarget,
  followRedirect,
  type Hop,
  isRedirect,
  parseTarget,
  addressNotAllowed,
  displayOrigin,
} from './fetch-target.ts';
import { OutgoingConnections, type ConnectionOptions } from './fetch-connections.ts';
import { type ExchangeAnswer } from './guarded-socket.ts';
import { toFetchFault } from './network-fault.ts';
import {
  ACCEPTED_CODINGS,
  type BodyLimits,
  readBody,
  SinkFailure,
  writeBody,
} from './response-body.ts';
import { parseRetryAfter } from './retry-after.ts';

/** Limits and options of every request of a guarded fetch. */
export interface GuardedFetchOptions extends ConnectionOptions {
  /** Hosts that may have private addresses, as `host:port` exactly as in a URL: `127.0.0.1:8545`. */
  readonly allowPrivate: readonly string[];
  /** Size limit of a body in bytes, on the wire and again after decompression. */
  readonly maxBytes: number;
  /** Milliseconds from the call to the last byte of the body, including redirects. */
  readonly deadlineMs: number;
  readonly maxRedirects: number;
  readonly userAgent: string;
  readonly breaker?: Partial<CircuitBreakerOptions>;
}

/** A request. Its limits override those of the guarded fetch, in either direction. */
export interface FetchRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly maxBytes?: number;
  readonly deadlineMs?: number;
  readonly maxRedirects?: number;
  /** Aborts the request; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Also sends the request while the circuit of the host is open after failures, to check whether they are
   * over; not if the host sent `Retry-After`.
   */
  readonly probe?: boolean;
}

/** A request whose body is written to a sink. */
export interface DownloadRequest extends FetchRequest {
  /** Called with the head of the response before its body arrives. */
  readonly onHead?: (head: FetchHead) => void;
}

/** A message to a WebSocket endpoint. */
export type ExchangeRequest = Pick<
  FetchRequest,
  'headers' | 'maxBytes' | 'deadlineMs' | 'signal' | 'probe'
> & {
  readonly body: string;
};

/** The response of a WebSocket endpoint. */
export type ExchangeResponse = Pick<FetchResponse, 'status' | 'body' | 'retryAfterMs'>;

/** A response without its body, with any status, including 404 and 503. */
export interface FetchHead {
  readonly status: number;
  /** Names in lower case; values of a repeated header are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The URL that responded, which differs from the requested one after redirects. It may contain keys. */
  readonly url: string;
  readonly redirects: number;
  /** The delay requested by `Retry-After`. */
  readonly retryAfterMs?: number;
}

export interface FetchResponse extends FetchHead {
  /** Decompressed. */
  readonly body: Buffer;
}

/**
 * The only network client: all outgoing traffic of the service goes through an instance of it. All methods
 * reject with {@link FetchFault}, or with the reason of the caller's signal.
 */
export interface GuardedFetch {
  /** Requests a URL and returns the complete response. */
  fetch(url: string, request?: FetchRequest): Promise<FetchResponse>;
  /**
   * Requests a URL and writes the decompressed body of a 2xx response to the sink, which is then ended. For
   * other responses only the head is returned, and the sink is untouched. If the body fails, the sink is
   * destroyed; if the sink fails, this rejects with its error.
   */
  download(
    url: string,
    sink: Writable,
    request?: DownloadRequest,
  ): Promise<FetchHead & { readonly bytes: number }>;
  /**
   * Sends `body` as one message to a WebSocket endpoint (`ws:` or `wss:`) and returns the first message
   * received, with status 101; or the status that rejected the handshake, without a message. Redirects are
   * not followed.
   */
  exchange(url: string, request: ExchangeRequest): Promise<ExchangeResponse>;
  /**
   * Replaces the hosts that may have private addresses (`allowPrivate`) after a configuration change. Running
   * requests continue. New requests do not use connections that the earlier list allowed.
   * @throws TypeError if an entry is not `host:port`; the list is then unchanged.
   */
  allowOnly(hostPorts: readonly string[]): void;
  /** Closes all connections; running requests fail. */
  close(): Promise<void>;
}

const SOCKET_SCHEMES: ReadonlySet<string> = new Set(['ws:', 'wss:']);
/** Headers that HTTP itself sets; a caller's values could contradict the message. */
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

/** A response with an unread body, and the limits of the body. */
interface OpenResponse extends BodyLimits {
  readonly head: FetchHead;
  readonly body: Readable;
}

class UndiciGuardedFetch implements GuardedFetch {
  readonly #options: GuardedFetchOptions;
  #connections: OutgoingConnections;
  /** Connections of earlier lists with running requests. */
  readonly #retiring = new Set<OutgoingConnections>();
  readonly #breaker: CircuitBreaker;
  readonly #now: () => number;

  constructor(options: GuardedFetchOptions) {
    this.#options = options;
    this.#connections = new OutgoingConnections(options, options.allowPrivate);
    this.#breaker = new CircuitBreaker(options.breaker);
    this.#now = options.breaker?.now ?? Date.now;
  }

  allowOnly(hostPorts: readonly string[]): void {
    const next = new OutgoingConnections(this.#options, hostPorts);
    const earlier = this.#connections;
    this.#connections = next;
    this.#retiring.add(earlier);
    const forget = (): void => void this.#retiring.delete(earlier);
    earlier.close().then(forget, forget);
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
        const [{ exchangeMessage }, { connect }] = await Promise.all([
          import('./guarded-socket.ts'),
          this.#connections.open(),
        ]);
        const answer = await exchangeMessage({
          url,
          headers: { 'user-agent': this.#options.userAgent, ...request.headers },
          message: request.body,
          maxBytes: request.maxBytes ?? this.#options.maxBytes,
          signal,
          connect,
        });
        return { head: this.#readExchange(answer, displayOrigin(url)) };
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
    await Promise.all([this.#connections, ...this.#retiring].map((each) => each.destroy()));
  }

  /** Follows redirects to the last response and reads it, within the deadline. */
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
        const origin = displayOrigin(hop.url);
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

  /** A private host is only reachable if the request names it: redirects to it from other hosts are rejected. */
  #assertAllowed(url: URL, asked: URL): void {
    const hostPort = hostPortOf(url);
    if (!this.#connections.allowed.has(hostPort)) assertPublicTarget(url);
    else if (hostPort !== hostPortOf(asked))
      throw addressNotAllowed(displayOrigin(url), 'redirect');
  }

  #withDeadline<Result>(
    url: URL,
    { deadlineMs = this.#options.deadlineMs, signal }: FetchRequest,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return withDeadline(displayOrigin(url), deadlineMs, signal, work);
  }

  /**
   * Sends one request unless the circuit of the host is open, converts errors to faults, and reports the
   * outcome to the breaker.
   */
  async #attempt<Step extends { readonly head: ResponseStatus }>(
    url: URL,
    { probe }: FetchRequest,
    signal: AbortSignal,
    work: (onHead: () => void) => Promise<Step>,
  ): Promise<Step> {
    const origin = displayOrigin(url);
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
      const fault = toFetchFault(error, { origin, signal, answered });
      report(outcomeOfFault(fault));
      throw fault;
    }
  }

  async #send(
    hop: Hop,
    redirects: number,
    signal: AbortSignal,
  ): Promise<Pick<OpenResponse, 'head' | 'body'>> {
    const { agent } = await this.#connections.open();
    const asking = agent.request({
      origin: hop.url.origin,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.method,
      headers: { ...hop.headers, 'accept-encoding': ACCEPTED_CODINGS },
      body: hop.body ?? null,
      signal,
    });
    const { statusCode: status, headers: received, body } = await abortable(asking, signal);
    // Destroying a body emits an error event, which must be handled.
    body.on('error', () => undefined);
    const headers = plainHeaders(received);
    const retryAfterMs = parseRetryAfter(headers['retry-after'], this.#now());
    const head = { status, headers, url: hop.url.href, redirects };
    return { head: retryAfterMs === undefined ? head : { ...head, retryAfterMs }, body };
  }
}

function tooManyRedirects(url: URL, maxRedirects: number): FetchFault {
  const origin = displayOrigin(url);
  const message = `${origin} redirects more than ${maxRedirects} times.`;
  return new FetchFault('too_many_redirects', message, { origin });
}

function outcomeOfFault(fault: unknown): Outcome {
  if (!(fault instanceof FetchFault) || fault.code === 'address_not_allowed') return 'abandoned';
  return fault.code === 'response_too_large' ? 'succeeded' : 'failed';
}

/**
 * Creates a fetch that reaches only public web hosts: http and https, no user information, addresses checked
 * when connecting, redirects followed manually and checked again, sizes counted after decompression, an
 * overall deadline, and a circuit breaker per host.
 * @throws TypeError if an entry of `allowPrivate` is not `host:port`.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return new UndiciGuardedFetch(options);
}
