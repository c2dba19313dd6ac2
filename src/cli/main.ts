#!/usr/bin/env node
import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';

// Loading the program makes garbage once, for which V8 would grow the space of young objects to 32 MB and keep it;
// a service at rest needs a thirtieth of that. Set before anything is loaded, and only for what stays.
if (process.argv[2] === 'start') setFlagsFromString('--semi-space-growth-factor=1');
const { readEnvironment } = await import('../config/environment.ts');
const { runCli } = await import('./program.ts');
const { stopOnSignals } = await import('./stop-signals.ts');

/** How long something may hold the process once its command is done: a connection that does not end, a timer. */
const LINGER_MS = 2_000;

const controller = new AbortController();
stopOnSignals(['SIGINT', 'SIGTERM'], controller);
// SIGHUP asks for a reload, but it is also what a process is sent when its terminal closes.
const onHangUp = (listener: () => void): void => {
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY && !hasTerminal()) controller.abort(new Error('SIGHUP'));
    else listener();
  });
};
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
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

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  environment: readEnvironment(),
  workingDirectory: process.cwd(),
  signal: controller.signal,
  onHangUp,
});
setTimeout(() => process.kill(process.pid, 'SIGKILL'), LINGER_MS).unref();
