/** Signals that come within this time of the first are one wish: npm sends a Ctrl-C to its child once more. */
const SAME_WISH_MS = 1_000;
/** A command that has not ended by now may hang, so the next signal ends it. */
const TIMEOUT_MS = 10_000;
/** How many signals it takes before that. */
const INSISTING = 3;

/**
 * Has the first signal ask the command to finish. Later ones let it finish, until somebody insists: the third, or the
 * first after ten seconds, ends the process as it would end any other. An embedded server then keeps running, and
 * the next start adopts it.
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
 * Asks a command that npx has started to finish when its parent ends. npx sends SIGTERM to the shell between itself and
 * the command, and a shell such as dash ends by it without a word to the command.
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
