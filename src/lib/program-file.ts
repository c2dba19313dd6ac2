const SOURCES = new URL('../', import.meta.url).href;
const isSource = import.meta.url.endsWith('.ts');

/**
 * The file to run for a program of its own thread or process.
 * @param program the URL of its source beside the caller, such as `new URL('./reading-thread.ts', import.meta.url)`.
 * The compiled file runs: beside the compiled caller, or that of the last build where tests and benchmarks run the
 * sources, which no thread can read without a second or two of translating.
 */
export function programFile(program: URL): URL {
  const compiled = program.href.replace(/\.ts$/, '.js');
  if (!isSource) return new URL(compiled);
  return new URL(compiled.replace(SOURCES, ''), new URL('../dist/', SOURCES));
}
