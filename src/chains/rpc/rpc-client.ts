import { setTimeout as wait } from 'node:timers/promises';
import { type z } from 'zod';
import { FullmatchError } from '../../errors.ts';
import { FetchFault } from '../../lib/fetch-fault.ts';
import {
  type ExchangeResponse,
  type FetchRequest,
  type GuardedFetch,
} from '../../lib/guarded-fetch.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain } from './rpc-chain.ts';
import { type EndpointPreference, orderEndpoints } from './endpoint-order.ts';
import { decodeRpcAnswer, encodeRpcCall } from './rpc-answer.ts';
import {
  type EndpointFault,
  invalidAnswer,
  isTransientFault,
  reasonOf,
  formatFaults,
  unreachable,
  wrongChain,
} from './rpc-faults.ts';
import { quantity } from './rpc-shapes.ts';

/** One call, and the shape of its result. */
export interface RpcRequest<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly result: z.ZodType<T>;
  /** Maximum bytes of the response; 1,000,000 by default. */
  readonly maxBytes?: number;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Timeout in milliseconds for one endpoint, including retries; the client's by default. */
  readonly deadlineMs?: number;
}

export interface RpcClientOptions {
  readonly fetch: GuardedFetch;
  /** Timeout in milliseconds for one endpoint, including retries; 15,000 by default. */
  readonly deadlineMs?: number;
  /** Maximum attempts on one endpoint for transient errors; 3 by default. */
  readonly attempts?: number;
  /** Delay before the second attempt; it doubles, and half of it is random. 250 by default. */
  readonly backoffMs?: number;
  /** For a longer delay than this, the next endpoint is tried instead; 2,000 by default. */
  readonly maxWaitMs?: number;
  /** How long an endpoint is trusted for its chain before its chain id is checked again; 600,000 by default. */
  readonly trustMs?: number;
  readonly now?: () => number;
  readonly random?: () => number;
  /** Ranks the endpoints of a chain. Without it all are equal. */
  readonly preference?: EndpointPreference;
}

/** Queries endpoints without the state that {@link RpcClient} keeps of them: for probes. */
export interface EndpointProber {
  /**
   * Sends one request to an endpoint regardless of its state: no retry, no chain id check, no back-off.
   * @throws FullmatchError as {@link RpcClient.ask}, except wrong_chain. The reason of `signal`.
   */
  probe<T>(
    chain: RpcChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<T>;
}

/**
 * Queries the endpoints of chains. An endpoint is trusted for a chain only after it returned that chain's
 * `eth_chainId`. Errors name endpoints by their labels.
 */
export interface RpcClient {
  /**
   * Queries one endpoint.
   * @throws FullmatchError wrong_chain; rpc_unreachable with `details.reason`; rpc_refused if it responds
   * with an error; rpc_invalid_answer. The reason of `signal`.
   */
  ask<T>(
    chain: RpcChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<T>;
  /**
   * Queries the endpoints until one responds: preferred ones first, otherwise in their order.
   * @throws FullmatchError rpc_unreachable with the fault of each endpoint. The reason of `signal`.
   */
  askAny<T>(
    chain: RpcChain,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<{ readonly value: T; readonly endpoint: string }>;
  /** The ranking of endpoints, for callers that query several themselves. */
  readonly preference?: EndpointPreference;
}

const DEFAULTS = {
  deadlineMs: 15_000,
  attempts: 3,
  backoffMs: 250,
  maxWaitMs: 2000,
  trustMs: 600_000,
  now: () => performance.now(),
  random: Math.random,
};
const MAX_BYTES = 1_000_000;
/** The status of a successful WebSocket handshake. */
const SWITCHING_PROTOCOLS = 101;

/** Faults after which another node may be behind the same URL. */
const RECONNECTED: ReadonlySet<string> = new Set([
  'connection_failed',
  'malformed_response',
  'deadline_exceeded',
]);

export const CHAIN_ID: RpcRequest<number> = { method: 'eth_chainId', params: [], result: quantity };

/** Moves user information of an endpoint's URL into a header, as the guarded fetch requires. */
function targetOf(endpoint: Endpoint): { url: string; headers: Record<string, string> } {
  const url = new URL(endpoint.url.reveal());
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
  };
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  return { url: url.href, headers };
}

class GuardedRpcClient implements RpcClient, EndpointProber {
  readonly preference?: EndpointPreference;
  readonly #fetch: GuardedFetch;
  readonly #options: typeof DEFAULTS;
  /** Until when an endpoint is trusted for a chain, by both. */
  readonly #trusted = new Map<string, number>();
  #lastId = 0;

  constructor(options: RpcClientOptions) {
    this.#fetch = options.fetch;
    this.#options = { ...DEFAULTS, ...options };
    if (options.preference !== undefined) this.preference = options.preference;
  }

  async ask<T>(
    chain: RpcChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options: AskOptions = {},
  ): Promise<T> {
    const { chainId } = chain.record;
    const key = `${chainId} ${endpoint.url.reveal()}`;
    const until = this.#options.now() + (options.deadlineMs ?? this.#options.deadlineMs);
    try {
      if ((this.#trusted.get(key) ?? 0) <= this.#options.now()) {
        const answered = await this.#askWithRepeats(chainId, endpoint, CHAIN_ID, until, options);
        if (answered !== chainId) throw wrongChain(chainId, endpoint, answered);
        this.#trusted.set(key, this.#options.now() + this.#options.trustMs);
      }
      return await this.#askWithRepeats(chainId, endpoint, request, until, options);
    } catch (error) {
      if (RECONNECTED.has(reasonOf(error))) this.#trusted.delete(key);
      throw error;
    }
  }

  async askAny<T>(
    chain: RpcChain,
    request: RpcRequest<T>,
    options: AskOptions = {},
  ): Promise<{ readonly value: T; readonly endpoint: string }> {
    const faults: EndpointFault[] = [];
    for (const endpoint of orderEndpoints(chain, this.preference)) {
      try {
        return {
          value: await this.ask(chain, endpoint, request, options),
          endpoint: endpoint.label,
        };
      } catch (error) {
        if (!(error instanceof FullmatchError)) throw error;
        faults.push({ endpoint: endpoint.label, reason: reasonOf(error) });
      }
    }
    const { chainId } = chain.record;
    throw new FullmatchError(
      'rpc_unreachable',
      `No endpoint of chain ${chainId} answers ${request.method}: ${formatFaults(faults)}.`,
      { details: { chainId, method: request.method, endpoints: faults } },
    );
  }

  async probe<T>(
    chain: RpcChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    { signal, deadlineMs = this.#options.deadlineMs }: AskOptions = {},
  ): Promise<T> {
    const { chainId } = chain.record;
    const sent = { deadlineMs, probe: true, ...(signal === undefined ? {} : { signal }) };
    return this.#askOnce(chainId, endpoint, request, sent);
  }

  /** Retries until a response, a permanent fault, the last attempt or the timeout. */
  async #askWithRepeats<T>(
    chainId: number,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    until: number,
    { signal }: AskOptions,
  ): Promise<T> {
    const { attempts, backoffMs, maxWaitMs, now, random } = this.#options;
    let attempt = 1;
    for (;;) {
      const leftMs = until - now();
      if (leftMs <= 0) throw unreachable(chainId, endpoint, request.method, 'deadline_exceeded');
      try {
        const sent = { deadlineMs: leftMs, ...(signal === undefined ? {} : { signal }) };
        return await this.#askOnce(chainId, endpoint, request, sent);
      } catch (error) {
        if (!isTransientFault(error)) throw error;
        // While the circuit of a host is open no request is sent, so this is not an attempt.
        if (error.details.resting !== true) attempt += 1;
        if (attempt > attempts) throw error;
        const wish = error.details.retryAfterMs;
        const backoff = backoffMs * 2 ** Math.max(0, attempt - 2) * (0.5 + random() / 2);
        const waitMs = Math.max(backoff, typeof wish === 'number' ? wish : 0);
        if (waitMs > Math.min(maxWaitMs, until - now())) throw error;
        await wait(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => {
          signal?.throwIfAborted();
        });
      }
    }
  }

  async #askOnce<T>(
    chainId: number,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options: Pick<FetchRequest, 'deadlineMs' | 'signal' | 'probe'>,
  ): Promise<T> {
    const { method } = request;
    this.#lastId += 1;
    const id = this.#lastId;
    const response = await this.#send(id, chainId, endpoint, request, options);
    const { status, retryAfterMs } = response;
    const answer = decodeRpcAnswer(response.body, id);
    if (status === 429 || (answer?.kind === 'error' && answer.throttled)) {
      throw unreachable(chainId, endpoint, method, 'throttled', retryAfterMs);
    }
    // Some nodes send error objects with an HTTP error status.
    if (answer?.kind === 'error') {
      const { errorCode } = answer;
      throw new FullmatchError(
        'rpc_refused',
        `The endpoint ${endpoint.label} of chain ${chainId} refuses ${method} (error ${errorCode}).`,
        { details: { chainId, endpoint: endpoint.label, method, errorCode, httpStatus: status } },
      );
    }
    if (status !== SWITCHING_PROTOCOLS && (status < 200 || status > 299)) {
      throw unreachable(chainId, endpoint, method, `status_${status}`, retryAfterMs);
    }
    if (answer === undefined) {
      throw invalidAnswer(chainId, endpoint, method, 'no JSON-RPC response to the request');
    }
    const parsed = request.result.safeParse(answer.result);
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    const what = where === '' ? 'a result of another shape' : `a wrong ${where}`;
    throw invalidAnswer(chainId, endpoint, method, what);
  }

  async #send(
    id: number,
    chainId: number,
    endpoint: Endpoint,
    { method, params, maxBytes = MAX_BYTES }: RpcRequest<unknown>,
    options: FetchRequest,
  ): Promise<ExchangeResponse> {
    const { url, headers } = targetOf(endpoint);
    const sent = { ...options, headers, body: encodeRpcCall(id, method, params), maxBytes };
    try {
      if (/^ws/i.test(url)) return await this.#fetch.exchange(url, sent);
      return await this.#fetch.fetch(url, { ...sent, method: 'POST' });
    } catch (error) {
      if (!(error instanceof FetchFault)) throw error;
      const { code, details } = error;
      if (code === 'response_too_large') {
        const what = `more than ${maxBytes} bytes`;
        throw invalidAnswer(chainId, endpoint, method, what, 'answer_too_large');
      }
      const resting = code === 'throttled' || code === 'circuit_open';
      throw unreachable(chainId, endpoint, method, code, details.retryAfterMs, resting);
    }
  }
}

/** Creates a client on the guarded fetch, with timeouts, retries with jitter, and failover. */
export function createRpcClient(options: RpcClientOptions): RpcClient & EndpointProber {
  return new GuardedRpcClient(options);
}
