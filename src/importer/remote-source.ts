import { createWriteStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../errors.ts';
import { Admission } from '../lib/admission.ts';
import { hostPortOf } from '../lib/address-guard.ts';
import { FetchFault } from '../lib/fetch-fault.ts';
import { createGuardedFetch, type FetchResponse, type GuardedFetch } from '../lib/guarded-fetch.ts';

/** A record of a contract contains all sources and both bytecodes. */
const MAX_BYTES = 128 * 2 ** 20;
const DEADLINE_MS = 120_000;
const DOWNLOAD_DEADLINE_MS = 3_600_000;
/** Status of a Fullmatch for a record that it cannot render. */
const ANSWER_TOO_LARGE = 422;
/** Concurrent requests: a service limits the requests in flight of one client. */
const AT_ONCE = 6;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Errors that a retry cannot fix. */
const LASTING = new Set([
  ...['url_not_allowed', 'scheme_not_allowed', 'address_not_allowed'],
  ...['too_many_redirects', 'response_too_large'],
]);

/** A web server to import from. Failed requests are retried, not before the server's Retry-After. */
export class RemoteSource {
  /** Without a trailing slash. */
  readonly base: string;
  readonly #fetch: GuardedFetch;
  readonly #signal: AbortSignal;
  readonly #requests = new Admission({ total: AT_ONCE, waiting: Infinity });
  readonly #firstPauseMs: number;

  /**
   * @param url `https://…`; its host may have a private address, because the operator named it
   * @param options.firstPauseMs delay before the second attempt; doubles with each attempt
   * @throws FullmatchError `import_path_unusable`
   */
  constructor(
    url: string,
    { signal, firstPauseMs = FIRST_PAUSE_MS }: { signal: AbortSignal; firstPauseMs?: number },
  ) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined || parsed.username !== '' || parsed.password !== '') {
      throw new FullmatchError(
        'import_path_unusable',
        '--from is not a URL without a user name and password, such as https://verify.example.org',
      );
    }
    parsed.search = '';
    parsed.hash = '';
    this.base = parsed.href.replace(/\/+$/, '');
    this.#signal = signal;
    this.#firstPauseMs = firstPauseMs;
    this.#fetch = createGuardedFetch({
      allowPrivate: [hostPortOf(parsed)],
      maxBytes: MAX_BYTES,
      deadlineMs: DEADLINE_MS,
      maxRedirects: 3,
      userAgent: 'fullmatch',
    });
  }

  /**
   * The response to `GET {base}{path}` with any status below 500.
   * @throws FullmatchError `import_source_unavailable`
   */
  get(path: string): Promise<FetchResponse> {
    return this.#repeat(path, () =>
      this.#fetch.fetch(`${this.base}${path}`, { signal: this.#signal }),
    );
  }

  /**
   * The JSON at a path; undefined if it does not exist.
   * @param tooLarge thrown for a response that the server cannot render or this process cannot hold: another
   * attempt would fail as well
   * @throws FullmatchError `import_source_unavailable`
   */
  async getJson(path: string, tooLarge?: Error): Promise<unknown> {
    const { status, body } = await this.get(path).catch((error: unknown) => {
      const { cause } = error as { readonly cause?: unknown };
      const isTooLarge = cause instanceof FetchFault && cause.code === 'response_too_large';
      throw isTooLarge && tooLarge !== undefined ? tooLarge : error;
    });
    if (status === 404) return undefined;
    if (status === ANSWER_TOO_LARGE && tooLarge !== undefined) throw tooLarge;
    if (status !== 200) throw this.#unavailable(path, `it responds with status ${status}`);
    try {
      return JSON.parse(body.toString('utf8'));
    } catch {
      throw this.#unavailable(path, 'the response is not JSON');
    }
  }

  /**
   * Downloads a path to a file of at most `maxBytes`.
   * @throws FullmatchError `import_source_unavailable`
   */
  async download(path: string, file: string, maxBytes: number): Promise<void> {
    await this.#repeat(path, async () => {
      const head = await this.#fetch.download(`${this.base}${path}`, createWriteStream(file), {
        signal: this.#signal,
        maxBytes,
        deadlineMs: DOWNLOAD_DEADLINE_MS,
      });
      if (head.status === 200 || head.status === 429 || head.status >= 500) return head;
      throw this.#unavailable(path, `it responds with status ${head.status}`);
    });
  }

  close(): Promise<void> {
    return this.#fetch.close();
  }

  async #repeat<Head extends { readonly status: number; readonly retryAfterMs?: number }>(
    path: string,
    request: () => Promise<Head>,
  ): Promise<Head> {
    for (let attempt = 1, pauseMs = this.#firstPauseMs; ; attempt += 1, pauseMs *= 2) {
      let retryAfterMs: number | undefined;
      let fault: string;
      try {
        const head = await this.#requests.run('', request, this.#signal);
        if (head.status !== 429 && head.status < 500) return head;
        ({ retryAfterMs } = head);
        fault = `it responds with status ${head.status}`;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!(error instanceof FetchFault)) throw error;
        ({ retryAfterMs } = error.details);
        fault = messageOf(error);
        if (LASTING.has(error.code)) throw this.#unavailable(path, fault, error);
      }
      if (attempt === ATTEMPTS) throw this.#unavailable(path, fault);
      await wait(Math.min(retryAfterMs ?? pauseMs, MAX_PAUSE_MS), undefined, {
        signal: this.#signal,
      });
    }
  }

  #unavailable(path: string, why: string, cause?: unknown): FullmatchError {
    return new FullmatchError(
      'import_source_unavailable',
      `cannot read ${this.base}${path}: ${why}. What was imported so far is stored; run the same command to go on`,
      { details: { path }, ...(cause !== undefined && { cause }) },
    );
  }
}
