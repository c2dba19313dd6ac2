import { setMaxListeners } from 'node:events';

/** Ends one request: by its caller, or because everything ends. */
export interface RequestEnding {
  readonly signal: AbortSignal;
  /** The promise, or a rejection with the signal's reason when that comes first. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Forgets the request, so that signals that live long do not gather listeners. */
  release(): void;
}

/** A signal that follows several others, until it is released. */
export function followSignals(signals: readonly AbortSignal[]): RequestEnding {
  const controller = new AbortController();
  // All requests of a process follow the signal of its end, and there may be more of them than Node expects.
  setMaxListeners(0, ...signals);
  const listeners = signals.map((signal) => {
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener('abort', follow, { once: true });
    return { signal, follow };
  });
  const ended = new Promise<never>((_resolve, reject) => {
    // The reason is the one that the caller gave.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const refuse = (): void => reject(controller.signal.reason);
    if (controller.signal.aborted) refuse();
    controller.signal.addEventListener('abort', refuse, { once: true });
  });
  // It may come while nobody races it.
  ended.catch(() => undefined);
  return {
    signal: controller.signal,
    race: (promise) => Promise.race([promise, ended]),
    release() {
      for (const { signal, follow } of listeners) signal.removeEventListener('abort', follow);
    },
  };
}
