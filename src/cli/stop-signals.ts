/** Signals that come within this time of the first are one wish: npm sends a Ctrl-C to its child once more. */
const SAME_WISH_MS = 1_000;
/** A command that has not ended by now may hang, so the next signal ends it. */
const TIMEOUT_MS = 10_000;
/** How many signals it takes before that. */
const INSISTING = 3;

/**
 * Has the first signal ask the command to finish. Later ones let it finish, until somebody insists: the third, or the
 * first after ten seconds, ends the process as it would end any other. An embedded server is then stopped by its watcher.
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
