import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage } from 'node:http';

const REQUEST_STARTED = 'http.server.request.start';

/** Counts requests to servers of this process from now on whose URL contains a text. */
export function countRequestsOf(part: string): { count: () => number; stop: () => void } {
  let count = 0;
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.url?.includes(part) === true) count += 1;
  };
  subscribe(REQUEST_STARTED, onStart);
  return { count: () => count, stop: () => void unsubscribe(REQUEST_STARTED, onStart) };
}
