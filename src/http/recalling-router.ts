import { type Result, type Router } from 'hono/router';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { recalled } from '../lib/recalled.ts';

/** Longer paths are not kept: whoever sends them takes no memory. */
const KEPT_LENGTH = 256;
const MOST_KEPT = 1_000;

/**
 * Hono's own router, which keeps its last answers. Each request is routed twice, for its answer and for the label of its
 * metrics, and a path that is asked for often is found without a search.
 */
export class RecallingRouter<T> implements Router<T> {
  readonly name = 'RecallingRouter';
  readonly #router = new SmartRouter<T>({ routers: [new RegExpRouter(), new TrieRouter()] });
  /** By the method and the path, with a space between. */
  readonly #recall = recalled(
    MOST_KEPT,
    (key): Result<T> => {
      const space = key.indexOf(' ');
      return this.#router.match(key.slice(0, space), key.slice(space + 1));
    },
    KEPT_LENGTH,
  );

  /** Adds a route; all are added before the first match. */
  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler);
  }

  /** What answers a method and path. */
  match(method: string, path: string): Result<T> {
    return this.#recall(`${method} ${path}`);
  }
}
