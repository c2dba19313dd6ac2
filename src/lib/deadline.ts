import { combineSignals } from './combine-signals.ts';
import { FetchFault } from './fetch-fault.ts';

/**
 * Runs `work` with a signal that aborts at the deadline with a FetchFault that names the origin, or when the
 * caller's signal aborts, with its reason.
 */
export async function withDeadline<Result>(
  origin: string,
  deadlineMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const message = `${origin} did not respond within ${deadlineMs} ms.`;
    const details = { origin, reason: 'deadline' };
    late.abort(new FetchFault('deadline_exceeded', message, details));
  }, deadlineMs);
  const ending = combineSignals([late.signal, ...(caller ? [caller] : [])]);
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    ending.release();
  }
}

/**
 * Waits for a promise, or rejects with the signal's reason if that comes first: undici honors a request's
 * signal only once it is connected, and a DNS lookup may exceed any deadline.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw signal.reason as Error;
  }
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
