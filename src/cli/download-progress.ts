import { type OutputStream, writeLine } from './cli-context.ts';

const LOOK_MS = 500;

/** Prints the progress of downloads whenever it changes, until the returned function is called. */
export function printDownloadProgress(
  stderr: OutputStream,
  read: () => readonly string[],
): () => void {
  const said = new Set<string>();
  const look = (): void => {
    for (const line of read()) {
      if (said.has(line)) continue;
      said.add(line);
      writeLine(stderr, line);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}
