import { type IncomingMessage } from 'node:http';

/**
 * How long a client may go on sending a body that nobody reads, in milliseconds. A connection that is closed while bytes
 * arrive is reset, and a reset can take the answer away from a client that has not read it yet.
 */
export const LINGER_MS = 500;
/** How much of it is read in that time, in bytes. */
export const MAX_DROPPED_BYTES = 33_554_432;
const CHECK_INTERVAL_MS = 50;

/** Reads and drops the rest of a body; closes its connection when that takes too long or is too much. */
export function dropBody(request: IncomingMessage): void {
  const { socket } = request;
  if (socket.destroyed) return;
  // A connection that breaks off meanwhile is no fault of ours.
  request.on('error', () => undefined);
  request.resume();
  const endBytes = socket.bytesRead + MAX_DROPPED_BYTES;
  let checksLeft = LINGER_MS / CHECK_INTERVAL_MS;
  const timer = setInterval(() => {
    checksLeft -= 1;
    const isOver = request.complete || socket.destroyed;
    if (!isOver && checksLeft > 0 && socket.bytesRead < endBytes) return;
    clearInterval(timer);
    if (!isOver) socket.destroySoon();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}
