// Requests content by its hash from IPFS and Swarm gateways, none of which is trusted.
import { CircuitBreaker, outcomeOf, type Report } from '../../../lib/circuit-breaker.ts';
import { FetchFault } from '../../../lib/fetch-fault.ts';
import { type FetchResponse, type GuardedFetch } from '../../../lib/guarded-fetch.ts';
import { type Gateway } from './gateway.ts';
import { type SearchBudget } from './search-budget.ts';

/** One request to a gateway, and how to validate its response. */
interface GatewayRequest<Content> {
  readonly url: string;
  readonly accept: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly spending: SearchBudget;
  /** Reads the content of a body; returns undefined if it is not the requested content. */
  readonly read: (body: Buffer) => Promise<Content | undefined> | Content | undefined;
  /**
   * Whether wrong content is the gateway's fault, because the content was verified against the hash in the
   * URL. Otherwise the metadata may claim a wrong hash for the URL, and its author must not be able to make
   * gateways rest.
   */
  readonly isChecked: boolean;
}

/** The content, or why there is none: a sentence with the gateway's origin. */
export type GatewayResult<Content> =
  { readonly content: Content } | { readonly note: string; readonly isUnsupported: boolean };

/** Statuses with which servers refuse a response format that they do not support. */
const UNSUPPORTED: ReadonlySet<number> = new Set([400, 405, 406, 415, 501]);
/** Statuses for content not found, or not in time, which is not the gateway's fault (524: Cloudflare's 504). */
const NOT_FOUND: ReadonlySet<number> = new Set([404, 408, 410, 504, 524]);
/**
 * Faults that do not count against a gateway: no request was sent, or the content is too large, which anyone
 * can cause by deploying bytecode that names it.
 */
const BLAMELESS: ReadonlySet<string> = new Set(['circuit_open', 'throttled', 'response_too_large']);

/**
 * Returns whether a fault counts against the gateway. Most gateways keep a request for unknown content
 * waiting for minutes, so only a connect timeout does.
 */
function isGatewayFault({ code, details }: FetchFault): boolean {
  if (code === 'deadline_exceeded') return details.reason === 'connect';
  return !BLAMELESS.has(code);
}

/** Requests content from gateways through the guarded fetch, and rests those that fail or return wrong content. */
export class GatewayClient {
  readonly #fetch: GuardedFetch;
  readonly #requestMs: number;
  /**
   * The guarded fetch counts a 504 as a failure of the host, but gateways send it for content that no one
   * provides. So this breaker decides instead.
   */
  readonly #breaker = new CircuitBreaker();

  constructor(fetch: GuardedFetch, requestMs: number) {
    this.#fetch = fetch;
    this.#requestMs = requestMs;
  }

  /** @throws ContentFault `unavailable` if the request limit is reached; the signal's reason */
  async ask<Content>(
    { origin }: Gateway,
    request: GatewayRequest<Content>,
  ): Promise<GatewayResult<Content>> {
    const { signal, spending } = request;
    signal.throwIfAborted();
    let report: Report | undefined;
    try {
      report = this.#breaker.enter(origin);
      spending.takeRequest();
      const response = await this.#fetch.fetch(request.url, {
        headers: { accept: request.accept },
        maxBytes: request.maxBytes,
        deadlineMs: this.#requestMs,
        signal,
        probe: true,
      });
      spending.takeBytes(response.body.length);
      return await judge(origin, response, request, report);
    } catch (error) {
      // The signal's reason may be a fetch fault too.
      if (signal.aborted || !(error instanceof FetchFault)) {
        report?.('abandoned');
        throw signal.aborted ? signal.reason : error;
      }
      if (error.code === 'response_too_large') spending.takeBytes(request.maxBytes);
      report?.(isGatewayFault(error) ? 'failed' : 'abandoned');
      return refuse(error.message);
    }
  }
}

function refuse(note: string, isUnsupported = false): { note: string; isUnsupported: boolean } {
  return { note, isUnsupported };
}

async function judge<Content>(
  origin: string,
  { status, retryAfterMs, body }: FetchResponse,
  { read, isChecked }: GatewayRequest<Content>,
  report: Report,
): Promise<GatewayResult<Content>> {
  if (status === 200) {
    const content = await read(body);
    if (content !== undefined) {
      report('succeeded');
      return { content };
    }
    report(isChecked ? 'failed' : 'abandoned');
    return refuse(`${origin} gives other content.`);
  }
  const isUnsupported = UNSUPPORTED.has(status);
  const isBlameless = isUnsupported || NOT_FOUND.has(status);
  report(isBlameless ? 'succeeded' : outcomeOf(status, retryAfterMs), retryAfterMs);
  return refuse(`${origin} answers ${status}.`, isUnsupported);
}
