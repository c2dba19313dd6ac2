import { executionAsyncResource } from 'node:async_hooks';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Environment } from '../config/environment.ts';

/** Available since Node 22.1. */
type CompileCache = { readonly enableCompileCache?: (directory: string) => unknown };

/** Grows from 1 MB to V8's limit of 16 MB in two steps, within the first thousands of requests. */
const YOUNG_SPACE_GROWTH = 4;

/** Configures how Node loads and runs the program; must be called before the program is loaded. */
export function prepareNode(command: string | undefined, environment: Environment): void {
  // Loading the program creates garbage once; V8 would grow the young generation to 32 MB for it and keep
  // that size, while an idle service needs a thirtieth. Applies only to the long-running command.
  if (command === 'start') {
    setYoungSpaceGrowth(1);
    keepTick();
  }
  const folder = compileCacheFolder(environment);
  if (folder !== undefined) (nodeModule as CompileCache).enableCompileCache?.(folder);
}

/**
 * Configures Node for a started service: the young generation grows with the load. At 1 MB the objects of
 * requests in progress would be copied again and again, which takes a third of the cost of a small response.
 */
export function prepareNodeToServe(): void {
  setYoungSpaceGrowth(YOUNG_SPACE_GROWTH);
}

/** Sets the factor by which V8 grows the young generation when many of its objects survive. V8 reads it each time. */
function setYoungSpaceGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

let keptTick: object | undefined;

/**
 * Keeps one object of Node's queue of ticks for as long as the process runs. Otherwise, a garbage collection during
 * which the queue is empty also frees the shape (map) of these objects, and V8 creates each later one by a slow call of
 * its runtime. `nextTick` is called several times per request: this saves 2 of the 14 µs of a small response
 * (docs/benchmarks.md). It must be done before the first such collection.
 */
function keepTick(): void {
  process.nextTick(() => (keptTick ??= executionAsyncResource()));
}

/**
 * Returns the folder of Node's compile cache: the user's own cache folder, since anyone who can write there
 * controls what runs. If it is not writable, Node compiles without a cache.
 */
function compileCacheFolder(environment: Environment): string | undefined {
  const home = environment['HOME'];
  const caches = environment['XDG_CACHE_HOME'] ?? (home && path.join(home, '.cache'));
  return caches === undefined ? undefined : path.join(caches, 'fullmatch', 'compiled');
}
