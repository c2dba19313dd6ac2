import { LRUCache } from 'lru-cache';
import { type ContentCoding } from '../../lib/content-coding.ts';

/** A rendered body in the coding in which it is sent. */
export interface CachedBody {
  readonly coding: ContentCoding;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Approximate overhead of an entry. */
const ENTRY_BYTES = 400;

/** Creates a cache of bodies limited by total size; a body larger than half of the limit is not cached. */
export function createBodyCache(limitBytes: number): LRUCache<string, CachedBody> {
  return new LRUCache({
    // The LRU constructor rejects 0, which disables caching here.
    maxSize: Math.max(1, limitBytes),
    maxEntrySize: Math.max(1, Math.floor(limitBytes / 2)),
    // A body may be a part of a larger buffer, which it keeps in memory.
    sizeCalculation: ({ bytes }) => ENTRY_BYTES + bytes.buffer.byteLength,
  });
}
