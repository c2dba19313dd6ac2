import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Whether this process wrote to a terminal that has been closed. */
export function terminalIsGone(): boolean {
  if (!process.stdout.isTTY) return false;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}

/** Lets the process end in order although its terminal, or the reader of its output, has gone before. */
export function outliveTerminal(): void {
  // At its end Node gives terminals back as it found them, and aborts where one is gone: it skips what is closed.
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('exit', () => {
    for (const gone of terminals.filter((descriptor) => !isatty(descriptor))) closeSync(gone);
  });
  // A reader that has seen enough, such as `head`, closes the pipe, and a closed terminal is gone: nothing is wrong.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}
