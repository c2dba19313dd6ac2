import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `count` values, of which the least recently used one goes first. Unlike one with `max`, it
 * does not allocate all its places in advance: 100,000 take 3 MB and some milliseconds.
 * @param ttlMs how long a value is kept, in milliseconds; 0 does not limit it
 */
export function countedCache<Value extends object | string>(
  count: number,
  ttlMs = 0,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: count, sizeCalculation: () => 1, ttl: ttlMs });
}
