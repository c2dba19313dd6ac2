import { setTimeout as wait } from 'node:timers/promises';

/**
 * Runs a function repeatedly until the signal aborts; each run ends with its own pause. Never rejects.
 * @param options.onFailure called for the first of consecutive failures
 * @param options.retryMs pause after a failure
 */
export async function repeatUntilAborted(
  run: () => Promise<void>,
  {
    signal,
    retryMs,
    onFailure,
  }: {
    readonly signal: AbortSignal;
    readonly retryMs: number;
    readonly onFailure: (error: unknown) => void;
  },
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      await run();
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) onFailure(error);
      isFailing = true;
      await wait(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
