#!/usr/bin/env node
// Entry point of the command line. Each command has its own file, which is loaded when it is called.
import { readEnvironment } from '../config/environment.ts';
import { prepareNode } from './prepare-node.ts';
import { stopOnSignals, stopWithNpx } from './stop-signals.ts';
import { ignoreClosedTerminal, isTerminalClosed } from './closed-terminal.ts';

/** How long a connection or timer may keep the process alive after its command has finished. */
const LINGER_MS = 2_000;

const args = process.argv.slice(2);
const environment = readEnvironment();
prepareNode(args[0], environment);
// Static imports load before Node is prepared, everything else after.
const { runCli } = await import('./program.ts');

const stop = new AbortController();
stopOnSignals(['SIGINT', 'SIGTERM'], stop);
stopWithNpx(environment, stop);
ignoreClosedTerminal();

process.exitCode = await runCli(args, {
  stdout: process.stdout,
  stderr: process.stderr,
  environment,
  workingDirectory: process.cwd(),
  signal: stop.signal,
  // SIGHUP requests a reload, but the process also receives it when its terminal closes.
  onHangUp: (listener) => {
    process.on('SIGHUP', () => {
      if (isTerminalClosed()) stop.abort(new Error('SIGHUP'));
      else listener();
    });
  },
});
setTimeout(() => process.kill(process.pid, 'SIGKILL'), LINGER_MS).unref();
