import { LRUCache } from 'lru-cache';
import { FullmatchError } from '../../../errors.ts';

/** A page that took too long or too much memory. */
interface TooLarge {
  /** In milliseconds of `performance.now`. */
  readonly until: number;
  readonly refusedMs: number;
}

/** A page that is being written, possibly for several clients. */
interface Writing {
  readonly stop: AbortController;
  clients: number;
}

const FIRST_REFUSED_MS = 60_000;
const LONGEST_REFUSED_MS = 3_600_000;
const MAX_KEPT = 1_000;

/**
 * Remembers pages that took too long or too much memory to write, and refuses them at once. The first refusal
 * lasts a minute, since a busy machine may have been the cause; each further one lasts twice as long.
 */
export class TooLargePages {
  readonly #known = new LRUCache<string, TooLarge>({ max: MAX_KEPT });
  readonly #writing = new Map<string, Writing>();

  /**
   * Writes a page. If it proves too large, all other clients that wait for it are refused too.
   * @param key the identity of the page
   * @throws FullmatchError page_too_large; errors of `write`
   */
  async write<T>(
    key: string,
    signal: AbortSignal,
    write: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if ((this.#known.get(key)?.until ?? 0) > performance.now()) throw pageTooLarge();
    const writing = this.#writing.get(key) ?? { stop: new AbortController(), clients: 0 };
    const { stop } = writing;
    this.#writing.set(key, writing);
    writing.clients += 1;
    try {
      const written = await write(AbortSignal.any([signal, stop.signal]));
      this.#known.delete(key);
      return written;
    } catch (error) {
      if (isTooLarge(error) && !stop.signal.aborted) {
        this.#remember(key);
        this.#writing.delete(key);
        stop.abort(error);
      }
      throw error;
    } finally {
      writing.clients -= 1;
      if (writing.clients === 0 && this.#writing.get(key) === writing) this.#writing.delete(key);
    }
  }

  #remember(key: string): void {
    const before = this.#known.get(key)?.refusedMs;
    const refusedMs =
      before === undefined ? FIRST_REFUSED_MS : Math.min(2 * before, LONGEST_REFUSED_MS);
    this.#known.set(key, { until: performance.now() + refusedMs, refusedMs });
  }
}

/** Returns the error for a page that takes too long or too much memory. */
export function pageTooLarge(): FullmatchError {
  return new FullmatchError(
    'page_too_large',
    'This page is too large to render. Get its data from the API.',
  );
}

function isTooLarge(error: unknown): boolean {
  return error instanceof FullmatchError && error.code === 'page_too_large';
}
