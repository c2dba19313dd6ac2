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
import { type AskedChain } from './asked-chain.ts';
import { type EndpointPreference, orderEndpoints } from './endpoint-order.ts';
import { decodeRpcAnswer, encodeRpcCall } from './rpc-answer.ts';
import {
  type EndpointFault,
  invalidAnswer,
  isMomentary,
  reasonOf,
  showFaults,
  unreachable,
  wrongChain,
} from './rpc-faults.ts';
import { quantity } from './rpc-shapes.ts';

/** One question, and the shape that its answer must have. */
export interface RpcRequest<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly result: z.ZodType<T>;
  /** Bytes of the whole answer. Default 1,000,000. */
  readonly maxBytes?: number;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for one endpoint, repeats included. Default that of the client. */
  readonly deadlineMs?: number;
}

export interface RpcClientOptions {
  readonly fetch: GuardedFetch;
  /** Milliseconds for one endpoint, repeats included. Default 15,000. */
  readonly deadlineMs?: number;
  /** How often one endpoint is asked when it fails for the moment. Default 3. */
  readonly attempts?: number;
  /** The wait before the second attempt; it doubles, and half of it is chance. Default 250. */
  readonly backoffMs?: number;
  /** A longer wait than this is not waited: the next endpoint is asked. Default 2,000. */
  readonly maxWaitMs?: number;
  /** How long an endpoint is trusted for its chain before it is asked again. Default 600,000. */
  readonly trustMs?: number;
  readonly now?: () => number;
  readonly random?: () => number;
  /** Which endpoints of a chain are asked first. Without it all are as good as each other. */
  readonly preference?: EndpointPreference;
}

/** Asks endpoints without the memory that {@link RpcClient} has of them: for probes. */
export interface EndpointProber {
  /**
   * Sends one request to an endpoint, whatever is known about it: no repeat, no trust, no rest after failures.
   * @throws FullmatchError as {@link RpcClient.ask}, but for wrong_chain. The reason of `signal`.
   */
  probe<T>(
    chain: AskedChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<T>;
}

/**
 * Asks the endpoints of chains. An endpoint is trusted for a chain only after it answered `eth_chainId` with it.
 * Errors name endpoints by their labels.
 */
export interface RpcClient {
  /**
   * Asks one endpoint.
   * @throws FullmatchError wrong_chain; rpc_unreachable with `details.reason`; rpc_refused when it answers with an
   * error; rpc_invalid_answer. The reason of `signal`.
   */
  ask<T>(
    chain: AskedChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<T>;
  /**
   * Asks the endpoints until one answers: the preferred ones first, and otherwise in their order.
   * @throws FullmatchError rpc_unreachable with the fault of each endpoint. The reason of `signal`.
   */
  askAny<T>(
    chain: AskedChain,
    request: RpcRequest<T>,
    options?: AskOptions,
  ): Promise<{ readonly value: T; readonly endpoint: string }>;
  /** Which endpoints are asked first, for those who ask several by themselves. */
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
/** The status of a WebSocket's handshake that succeeded. */
const SWITCHING_PROTOCOLS = 101;

/** Faults after which another node may stand behind the same URL. */
const RECONNECTED: ReadonlySet<string> = new Set([
  'connection_failed',
  'malformed_response',
  'deadline_exceeded',
]);

export const CHAIN_ID: RpcRequest<number> = { method: 'eth_chainId', params: [], result: quantity };

/** User information of an endpoint's URL goes into a header, where the guarded fetch takes it. */
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
    chain: AskedChain,
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
    chain: AskedChain,
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
      `No endpoint of chain ${chainId} answers ${request.method}: ${showFaults(faults)}.`,
      { details: { chainId, method: request.method, endpoints: faults } },
    );
  }

  async probe<T>(
    chain: AskedChain,
    endpoint: Endpoint,
    request: RpcRequest<T>,
    { signal, deadlineMs = this.#options.deadlineMs }: AskOptions = {},
  ): Promise<T> {
    const { chainId } = chain.record;
    const sent = { deadlineMs, probe: true, ...(signal === undefined ? {} : { signal }) };
    return this.#askOnce(chainId, endpoint, request, sent);
  }

  /** Asks until an answer, a fault that stays, the last attempt or the end of the time. */
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
        if (!isMomentary(error)) throw error;
        // While a host rests nobody is asked, so that is not an attempt.
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
    // Some nodes send their error objects with a status of their own.
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

/** A client over the guarded fetch, with time limits, repeats with jitter, and failover. */
export function createRpcClient(options: RpcClientOptions): RpcClient & EndpointProber {
  return new GuardedRpcClient(options);
}
