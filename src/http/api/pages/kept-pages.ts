import { LRUCache } from 'lru-cache';
import { type WrittenPage } from './make-page.ts';

/** A page, also in gzip once it was asked for. */
export interface MadePage {
  readonly page: WrittenPage;
  gzip?: Buffer<ArrayBuffer>;
}

interface Kept {
  readonly made: MadePage;
  readonly revision: number | undefined;
  readonly madeAt: number;
}

const KEPT_BYTES = 16 * 2 ** 20;
/** Longer pages of published data are rare, and asked for by one reader. */
const LONGEST_SHARED_BYTES = 2 ** 18;
/** Relative times and the health of chains change without a revision. */
const SHARED_MS = 1_000;
/** Its gzip is made later; a quarter of the page is more than most take. */
const sizeOf = ({ made: { page } }: Kept): number => Math.ceil(page.bytes.byteLength * 1.25);

/**
 * Pages that are made once for everybody: static ones for good, and those of published data for a second at most, or
 * until something is published.
 */
export class KeptPages {
  readonly #pages = new LRUCache<string, Kept>({
    maxSize: KEPT_BYTES,
    sizeCalculation: sizeOf,
  });

  /** The page with this key, as long as `revision` is what it was made of. */
  find(key: string, revision: number | undefined): MadePage | undefined {
    const kept = this.#pages.get(key);
    if (kept === undefined || kept.made.page.isStatic) return kept?.made;
    const isCurrent = kept.revision === revision && performance.now() - kept.madeAt < SHARED_MS;
    return isCurrent ? kept.made : undefined;
  }

  /** Keeps a page that shows the same to everybody, and nothing that could not be read. */
  keep(key: string, made: MadePage, revision: number | undefined): void {
    const { status, isStatic, isShared, isWhole, bytes } = made.page;
    const isShort = bytes.byteLength < LONGEST_SHARED_BYTES;
    const isKept = isStatic || (isShared && isWhole && isShort && revision !== undefined);
    if (status === 200 && isKept)
      this.#pages.set(key, { made, revision, madeAt: performance.now() });
  }
}
