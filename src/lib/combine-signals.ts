import { setMaxListeners } from 'node:events';

/** The end of a request: aborted by its caller, or by shutdown. */
export interface FollowedSignal {
  readonly signal: AbortSignal;
  /** Returns the promise's result, or rejects with the signal's reason if that comes first. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Removes the listeners, so that they do not accumulate on long-lived signals. */
  release(): void;
}

/**
 * Returns a signal that follows several others until it is released. Unlike one of `AbortSignal.any`, it leaves nothing
 * behind on a signal that lives as long as the service (nodejs/node#55351).
 */
export function combineSignals(signals: readonly AbortSignal[]): FollowedSignal {
  const controller = new AbortController();
  // All requests follow the shutdown signal; their number may exceed Node's default listener limit.
  setMaxListeners(0, ...signals);
  const listeners = signals.map((signal) => {
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener('abort', follow, { once: true });
    return { signal, follow };
  });
  const ended = new Promise<never>((_resolve, reject) => {
    // The reason is given by the caller.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const refuse = (): void => reject(controller.signal.reason);
    if (controller.signal.aborted) refuse();
    controller.signal.addEventListener('abort', refuse, { once: true });
  });
  // The signal may abort while no race is pending.
  ended.catch(() => undefined);
  return {
    signal: controller.signal,
    race: (promise) => Promise.race([promise, ended]),
    release() {
      for (const { signal, follow } of listeners) signal.removeEventListener('abort', follow);
    },
  };
}
