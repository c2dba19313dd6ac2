import { setMaxListeners } from 'node:events';
import { FetchFault } from './fetch-fault.ts';

/**
 * Runs `work` with a signal that is aborted at the deadline, with a FetchFault that names the origin, or when the caller
 * aborts his own, with his reason.
 */
export async function withDeadline<Result>(
  origin: string,
  deadlineMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const message = `${origin} did not respond within ${deadlineMs} ms.`;
    const details = { origin, reason: 'deadline' };
    controller.abort(new FetchFault('deadline_exceeded', message, details));
  }, deadlineMs);
  const followCaller = (): void => controller.abort(caller?.reason);
  if (caller?.aborted === true) followCaller();
  // A caller may end all its requests by one signal, and there may be more of them than Node expects.
  if (caller !== undefined) setMaxListeners(0, caller);
  caller?.addEventListener('abort', followCaller, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', followCaller);
  }
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
