import { LRUCache } from 'lru-cache';

/** A body that is kept, with its compressed form once somebody asked for it. */
export interface CachedBody {
  readonly tag: string;
  readonly identity: Buffer<ArrayBuffer>;
  gzip?: Buffer<ArrayBuffer>;
}

/** A few hundred bytes are the entry itself. */
const ENTRY_BYTES = 400;

/** Keeps bodies within a number of bytes, by any key; one that would take half of the room is not kept. */
export function createBodyCache(limitBytes: number): LRUCache<string, CachedBody> {
  return new LRUCache({
    // Its constructor refuses 0, with which nothing is kept.
    maxSize: Math.max(1, limitBytes),
    maxEntrySize: Math.max(1, Math.floor(limitBytes / 2)),
    sizeCalculation: ({ identity, gzip }) =>
      ENTRY_BYTES + identity.byteLength + (gzip?.byteLength ?? 0),
  });
}
