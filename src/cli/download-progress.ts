import { type OutputStream, writeLine } from './cli-context.ts';

const PRINT_EVERY_MS = 500;

/** Prints the progress of downloads whenever it changes, until the returned function is called. */
export function printDownloadProgress(
  stderr: OutputStream,
  read: () => readonly string[],
): () => void {
  const printed = new Set<string>();
  const printProgress = (): void => {
    for (const line of read()) {
      if (printed.has(line)) continue;
      printed.add(line);
      writeLine(stderr, line);
    }
  };
  const timer = setInterval(printProgress, PRINT_EVERY_MS);
  return () => clearInterval(timer);
}
