/** Signals within this time of the first count as one request: npm forwards a Ctrl-C to its child a second time. */
const SAME_WISH_MS = 1_000;
/** A command that is still running after this time may hang, so the next signal ends it. */
const TIMEOUT_MS = 10_000;
/** Number of signals that end the process before that. */
const INSISTING = 3;

/**
 * Makes the first signal ask the command to finish. Later signals are ignored, except that the third, or the
 * first after ten seconds, ends the process with its default action. An embedded server then keeps running,
 * and the next start adopts it.
 */
export function stopOnSignals(
  signals: readonly NodeJS.Signals[],
  controller: AbortController,
): void {
  let first: number | undefined;
  let count = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    count += 1;
    first ??= performance.now();
    const passed = performance.now() - first;
    controller.abort(new Error(signal));
    const insists = passed > TIMEOUT_MS || (count >= INSISTING && passed > SAME_WISH_MS);
    if (!insists) return;
    for (const each of signals) process.removeListener(each, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
}

const PARENT_CHECK_INTERVAL_MS = 200;

/**
 * Asks a command started by npx to finish when its parent ends. npx sends SIGTERM to the shell in between,
 * and a shell such as dash ends without forwarding it to the command.
 */
export function stopWithNpx(
  environment: Readonly<Record<string, string | undefined>>,
  controller: AbortController,
): void {
  if (environment['npm_lifecycle_event'] !== 'npx') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    controller.abort(new Error('npx has ended'));
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}
