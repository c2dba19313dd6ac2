import { setTimeout as wait } from 'node:timers/promises';

/**
 * Runs something again and again until the signal; each run ends with its own pause. Never rejects.
 * @param options.onFailure told of the first failure in a row
 * @param options.retryMs the pause after a failure
 */
export async function repeat(
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
