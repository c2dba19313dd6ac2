/** Resolves after the time, or at once when the signal aborts. Never rejects. */
export function wait(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, timeMs);
    signal?.addEventListener('abort', finish);
  });
}
