import { type Result, type Router } from 'hono/router';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { memoize } from '../lib/memoize.ts';

/** Longer paths are not cached, so a client cannot fill the memory with them. */
const KEPT_LENGTH = 256;
const MAX_KEPT = 1_000;

/**
 * Hono's router with a cache of recent matches. Each request is routed twice, for its response and for the
 * label of its metrics; frequent paths need no search.
 */
export class CachingRouter<T> implements Router<T> {
  readonly name = 'CachingRouter';
  readonly #router = new SmartRouter<T>({ routers: [new RegExpRouter(), new TrieRouter()] });
  /** Keyed by method and path, separated by a space. */
  readonly #recall = memoize(
    MAX_KEPT,
    (key): Result<T> => {
      const space = key.indexOf(' ');
      return this.#router.match(key.slice(0, space), key.slice(space + 1));
    },
    KEPT_LENGTH,
  );

  /** Adds a route; all routes must be added before the first match. */
  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler);
  }

  /** Returns the handlers for a method and path. */
  match(method: string, path: string): Result<T> {
    return this.#recall(`${method} ${path}`);
  }
}
