/** Pauses of a loop that can be woken. */
export class Waker {
  #isWoken = false;
  #end: () => void = () => undefined;

  /** Ends the current pause, or skips the next one if none is in progress. */
  wake(): void {
    this.#isWoken = true;
    this.#end();
  }

  /** Waits for the time, a call of {@link wake} or the abort of the signal, whichever comes first. */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => this.#end(), ms);
        this.#end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', this.#end);
          resolve();
        };
        signal.addEventListener('abort', this.#end, { once: true });
      });
    }
    this.#isWoken = false;
  }
}

/** How repeated work goes on after a failure. */
interface AfterFailure {
  /** Pause after a failed run, in milliseconds. */
  readonly retryMs: number;
  /** Called for the first of consecutive failures. */
  readonly onFailure: (error: unknown) => void;
}

/** Work that is repeated until it is closed. */
export interface RepeatedWork {
  /** Starts the next run now, or immediately after the run in progress. */
  wake(): void;
  /** Aborts the run in progress and waits for its end. */
  close(): Promise<void>;
}

/**
 * Runs a function repeatedly until the signal aborts; each run returns the pause before the next, in milliseconds.
 * Never rejects.
 */
export async function repeatUntilAborted(
  run: (signal: AbortSignal) => Promise<number>,
  {
    signal,
    retryMs,
    onFailure,
    waker = new Waker(),
  }: AfterFailure & { readonly signal: AbortSignal; readonly waker?: Waker },
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
    if (pauseMs > 0) await waker.pause(pauseMs, signal);
  }
}

/** Runs a function repeatedly until closed, see {@link repeatUntilAborted}. */
export function repeatUntilClosed(
  run: (signal: AbortSignal) => Promise<number>,
  afterFailure: AfterFailure,
): RepeatedWork {
  const closing = new AbortController();
  const waker = new Waker();
  const running = repeatUntilAborted(run, { ...afterFailure, signal: closing.signal, waker });
  return {
    wake: () => waker.wake(),
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
