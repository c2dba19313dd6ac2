// Asks gateways of IPFS and Swarm for content by its hash, and believes none of them.
import { CircuitBreaker, outcomeOf, type Report } from '../../../lib/circuit-breaker.ts';
import { FetchFault } from '../../../lib/fetch-fault.ts';
import { type FetchResponse, type GuardedFetch } from '../../../lib/guarded-fetch.ts';
import { type Gateway } from './gateway.ts';
import { type Spending } from './spending.ts';

/** One request to a gateway, and how its answer is judged. */
interface GatewayRequest<Content> {
  readonly url: string;
  readonly accept: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly spending: Spending;
  /** What is in the body; undefined where that is not what was asked for. */
  readonly read: (body: Buffer) => Promise<Content | undefined> | Content | undefined;
  /**
   * Whether a gateway that gives other content has lied: the content was checked by the hash in the URL. Otherwise the
   * metadata may have lied about what the URL holds, and its author must not make gateways rest.
   */
  readonly isChecked: boolean;
}

/** The content, or why there is none: a sentence with the gateway's origin. */
export type GatewayAnswer<Content> =
  { readonly content: Content } | { readonly note: string; readonly isUnsupported: boolean };

/** How servers refuse a form of an answer that they do not have. */
const UNSUPPORTED: ReadonlySet<number> = new Set([400, 405, 406, 415, 501]);
/** A gateway did not find the content, or not in time: this says nothing about the gateway (524: Cloudflare's 504). */
const NOT_FOUND: ReadonlySet<number> = new Set([404, 408, 410, 504, 524]);
/** The guarded fetch did not ask, or anybody who puts a hash into code could bring it about: a content that is too large. */
const BLAMELESS: ReadonlySet<string> = new Set(['circuit_open', 'throttled', 'response_too_large']);

/** Whether a fault speaks against the gateway. Most gateways keep a request for unknown content waiting for minutes. */
function isGatewayFault({ code, details }: FetchFault): boolean {
  if (code === 'deadline_exceeded') return details.reason === 'connect';
  return !BLAMELESS.has(code);
}

/** Asks gateways by the guarded fetch, and rests those that fail or give content that was not asked for. */
export class GatewayClient {
  readonly #fetch: GuardedFetch;
  readonly #requestMs: number;
  /**
   * The guarded fetch counts a 504 as a failure of the host; a gateway says so of content that nobody has. So it is
   * this breaker that decides.
   */
  readonly #breaker = new CircuitBreaker();

  constructor(fetch: GuardedFetch, requestMs: number) {
    this.#fetch = fetch;
    this.#requestMs = requestMs;
  }

  /** @throws ContentFault `unavailable` where no more may be asked for; the signal's reason */
  async ask<Content>(
    { origin }: Gateway,
    request: GatewayRequest<Content>,
  ): Promise<GatewayAnswer<Content>> {
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
      // The reason of the signal may be a fault of a fetch too.
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
): Promise<GatewayAnswer<Content>> {
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
