import { Worker, type WorkerOptions } from 'node:worker_threads';

const SOURCES = new URL('../', import.meta.url).href;
const BUILT = new URL('../../dist/', import.meta.url).href;

/**
 * Starts a thread of this program.
 * @param program the URL of its source beside the caller, such as `new URL('./reading-thread.ts', import.meta.url)`.
 * The compiled file of it runs. Where tests and benchmarks run the sources, that is the one of the last build.
 */
export function startThread(program: URL, options: WorkerOptions): Worker {
  const compiled = program.href.replace(SOURCES, BUILT).replace(/\.ts$/, '.js');
  return new Worker(new URL(compiled), options);
}
