import { LRUCache } from 'lru-cache';
import { type RenderedPage } from './render-page.ts';

/** A page, with its gzip once requested. */
export interface CachedPage {
  readonly page: RenderedPage;
  gzip?: Buffer<ArrayBuffer>;
}

interface Kept {
  readonly made: CachedPage;
  readonly revision: number | undefined;
  readonly madeAt: number;
}

const KEPT_BYTES = 16 * 2 ** 20;
/** Longer pages of published data are rare and unlikely to be requested twice in a row. */
const LONGEST_SHARED_BYTES = 2 ** 18;
/** Relative times and chain health change without a new revision. */
const SHARED_MS = 1_000;
/** The gzip is added later; a quarter of the page is enough for most. */
const sizeOf = ({ made: { page } }: Kept): number => Math.ceil(page.bytes.byteLength * 1.25);

/**
 * Cache of pages that are the same for all clients: static pages for good, and pages of published data for at
 * most a second or until new data is published.
 */
export class PageCache {
  readonly #pages = new LRUCache<string, Kept>({
    maxSize: KEPT_BYTES,
    sizeCalculation: sizeOf,
  });

  /** Returns the page with this key if it was made from the same `revision`. */
  find(key: string, revision: number | undefined): CachedPage | undefined {
    const kept = this.#pages.get(key);
    if (kept === undefined || kept.made.page.isStatic) return kept?.made;
    const isCurrent = kept.revision === revision && performance.now() - kept.madeAt < SHARED_MS;
    return isCurrent ? kept.made : undefined;
  }

  /** Caches a page unless it differs between clients or is incomplete. */
  keep(key: string, made: CachedPage, revision: number | undefined): void {
    const { status, isStatic, isShared, isWhole, bytes } = made.page;
    const isShort = bytes.byteLength < LONGEST_SHARED_BYTES;
    const isKept = isStatic || (isShared && isWhole && isShort && revision !== undefined);
    if (status === 200 && isKept)
      this.#pages.set(key, { made, revision, madeAt: performance.now() });
  }
}
