import * as nodeModule from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Environment } from '../config/environment.ts';

/** Node has it since 22.1. */
type CompileCache = { readonly enableCompileCache?: (directory: string) => unknown };

/** Settles how Node loads and runs the program; called before the program is loaded. */
export function prepareNode(command: string | undefined, environment: Environment): void {
  // Loading the program makes garbage once, for which V8 would grow the space of young objects to 32 MB and keep it;
  // a service at rest needs a thirtieth of that. Only for what stays.
  if (command === 'start') setFlagsFromString('--semi-space-growth-factor=1');
  const folder = compileCacheFolder(environment);
  if (folder !== undefined) (nodeModule as CompileCache).enableCompileCache?.(folder);
}

/**
 * Where Node keeps the compiled program for the next run: the user's own cache folder, since anyone who can write there
 * decides what runs. Node compiles again when it cannot write there.
 */
function compileCacheFolder(environment: Environment): string | undefined {
  const home = environment['HOME'];
  const caches = environment['XDG_CACHE_HOME'] ?? (home && path.join(home, '.cache'));
  return caches === undefined ? undefined : path.join(caches, 'fullmatch', 'compiled');
}
