#!/usr/bin/env node
// The command line: one file for each command, loaded when it is called.
import { readEnvironment } from '../config/environment.ts';
import { prepareNode } from './prepare-node.ts';
import { stopOnSignals, stopWithNpx } from './stop-signals.ts';
import { outliveTerminal, terminalIsGone } from './terminal-end.ts';

/** How long something may hold the process once its command is done: a connection that does not end, a timer. */
const LINGER_MS = 2_000;

const args = process.argv.slice(2);
const environment = readEnvironment();
prepareNode(args[0], environment);
// What is imported above is loaded before Node is prepared, everything else after.
const { runCli } = await import('./program.ts');

const stop = new AbortController();
stopOnSignals(['SIGINT', 'SIGTERM'], stop);
stopWithNpx(environment, stop);
outliveTerminal();

process.exitCode = await runCli(args, {
  stdout: process.stdout,
  stderr: process.stderr,
  environment,
  workingDirectory: process.cwd(),
  signal: stop.signal,
  // SIGHUP asks for a reload, but it is also what a process is sent when its terminal closes.
  onHangUp: (listener) => {
    process.on('SIGHUP', () => {
      if (terminalIsGone()) stop.abort(new Error('SIGHUP'));
      else listener();
    });
  },
});
setTimeout(() => process.kill(process.pid, 'SIGKILL'), LINGER_MS).unref();
