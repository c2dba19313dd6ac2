import { setTimeout as wait } from 'node:timers/promises';

/** How repeated work goes on after a failure. */
interface AfterFailure {
  /** Pause after a failed run, in milliseconds. */
  readonly retryMs: number;
  /** Called for the first of consecutive failures. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs a function repeatedly until the signal aborts; each run returns the pause before the next, in milliseconds.
 * Never rejects.
 */
export async function repeatUntilAborted(
  run: (signal: AbortSignal) => Promise<number>,
  { signal, retryMs, onFailure }: AfterFailure & { readonly signal: AbortSignal },
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    let pauseMs = retryMs;
    try {
      pauseMs = await run(signal);
      isFailing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) onFailure(error);
      isFailing = true;
    }
    if (pauseMs > 0) await wait(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Runs a function repeatedly until closed; `close` aborts the run in progress and waits for its end. */
export function repeatUntilClosed(
  run: (signal: AbortSignal) => Promise<number>,
  afterFailure: AfterFailure,
): { close(): Promise<void> } {
  const closing = new AbortController();
  const running = repeatUntilAborted(run, { ...afterFailure, signal: closing.signal });
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
