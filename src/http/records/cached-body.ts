import { LRUCache } from 'lru-cache';

/** A cached body, with its compressed form once requested. */
export interface CachedBody {
  readonly tag: string;
  readonly identity: Buffer<ArrayBuffer>;
  gzip?: Buffer<ArrayBuffer>;
}

/** Approximate overhead of an entry. */
const ENTRY_BYTES = 400;

/** Creates a cache of bodies limited by total size; a body larger than half of the limit is not cached. */
export function createBodyCache(limitBytes: number): LRUCache<string, CachedBody> {
  return new LRUCache({
    // The LRU constructor rejects 0, which disables caching here.
    maxSize: Math.max(1, limitBytes),
    maxEntrySize: Math.max(1, Math.floor(limitBytes / 2)),
    sizeCalculation: ({ identity, gzip }) =>
      ENTRY_BYTES + identity.byteLength + (gzip?.byteLength ?? 0),
  });
}
