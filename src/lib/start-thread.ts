import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread of this program.
 * @param program the URL of its source beside the caller, such as `new URL('./reading-thread.ts', import.meta.url)`.
 * Where the caller is compiled, the compiled file runs; where tests and benchmarks run the sources, tsx reads them.
 */
export function startThread(program: URL, options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL(program.href.replace(/\.ts$/, '.js')), options);
  }
  // Found from the working directory, which is the project's.
  const load = `import('tsx/esm/api').then(({ register }) => {
    register();
    return import(${JSON.stringify(program.href)});
  });`;
  return new Worker(load, { ...options, eval: true });
}
