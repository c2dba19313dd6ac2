import { setMaxListeners } from 'node:events';
import { FetchFault } from './fetch-fault.ts';

/** Ends a request at its deadline or by its caller, and knows which it was. */
export interface AbortScope {
  readonly signal: AbortSignal;
  release(): void;
}

/** Begins to wait for the deadline and for the caller's signal. */
export function openAbortScope(
  origin: string,
  deadlineMs: number,
  caller: AbortSignal | undefined,
): AbortScope {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new FetchFault('deadline_exceeded', `${origin} did not answer within ${deadlineMs} ms.`, {
        origin,
        reason: 'deadline',
      }),
    );
  }, deadlineMs);
  const followCaller = (): void => controller.abort(caller?.reason);
  if (caller?.aborted === true) followCaller();
  // A caller may end all its requests by one signal, and there may be more of them than Node expects.
  if (caller !== undefined) setMaxListeners(0, caller);
  caller?.addEventListener('abort', followCaller, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', followCaller);
    },
  };
}

/**
 * The promise, or the signal's reason when that comes first: undici heeds the signal of a request only when its
 * connection stands, and finding a name may take longer than any deadline.
 */
export async function endWith<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
