import * as nodeModule from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Environment } from '../config/environment.ts';

/** Node has it since 22.1. */
type CompileCache = { readonly enableCompileCache?: (directory: string) => unknown };

/** From 1 MB to the 16 MB that V8 allows in two steps: the first thousands of requests are enough for both. */
const YOUNG_SPACE_GROWTH = 4;

/** Settles how Node loads and runs the program; called before the program is loaded. */
export function prepareNode(command: string | undefined, environment: Environment): void {
  // Loading the program makes garbage once, for which V8 would grow the space of young objects to 32 MB and keep it;
  // a service at rest needs a thirtieth of that. Only for what stays.
  if (command === 'start') setYoungSpaceGrowth(1);
  const folder = compileCacheFolder(environment);
  if (folder !== undefined) (nodeModule as CompileCache).enableCompileCache?.(folder);
}

/**
 * Settles how Node runs a service that has started: the space of young objects grows with the load. In 1 MB the objects of
 * requests that are under way are copied again and again, which takes a third of what a small answer costs.
 */
export function prepareNodeToServe(): void {
  setYoungSpaceGrowth(YOUNG_SPACE_GROWTH);
}

/** By how much V8 multiplies the space of young objects when many of them are still in use. It reads this each time. */
function setYoungSpaceGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/**
 * Where Node keeps what it compiled of the program, for the next run: the user's own folder of caches, since whoever
 * writes there decides what runs. Where nothing can be written, Node compiles anew.
 */
function compileCacheFolder(environment: Environment): string | undefined {
  const home = environment['HOME'];
  const caches = environment['XDG_CACHE_HOME'] ?? (home && path.join(home, '.cache'));
  return caches === undefined ? undefined : path.join(caches, 'fullmatch', 'compiled');
}
