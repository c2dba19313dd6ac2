import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Returns whether this process wrote to a terminal that has been closed. */
export function isTerminalClosed(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

/** Lets the process exit cleanly even if its terminal or the reader of its output is already gone. */
export function ignoreClosedTerminal(): void {
  // On exit Node restores terminals and aborts if one is gone, but skips closed descriptors.
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('exit', () => {
    for (const gone of terminals.filter((descriptor) => !isatty(descriptor))) closeSync(gone);
  });
  // A reader such as `head` may close the pipe early, and a terminal may be closed: neither is an error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}
