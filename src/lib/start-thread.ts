import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread of this program.
 * @param program the URL of its source beside the caller, such as `new URL('./reading-thread.ts', import.meta.url)`.
 * A thread always runs the compiled file, also where tests and benchmarks run the sources: a compiler of TypeScript
 * inside a thread is a child process that nobody waits for once the thread is ended. Build before running sources.
 */
export function startThread(program: URL, options: WorkerOptions): Worker {
  const compiled = program.href.replace(/\.ts$/, '.js');
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL(compiled), options);
  const sources = compiled.lastIndexOf('/src/');
  const built = `${compiled.slice(0, sources)}/dist/${compiled.slice(sources + '/src/'.length)}`;
  return new Worker(new URL(built), options);
}
