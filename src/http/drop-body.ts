import { type IncomingMessage } from 'node:http';

/**
 * How long a client may take to send the next bytes of a body that is not read, in milliseconds. Closing a connection
 * while bytes arrive resets it, and a reset can discard the response before the client has read it.
 */
export const LINGER_MS = 500;
/** The same for all bytes: a busy service reads them slowly. */
const LINGER_MAX_MS = 3_000;
/** Most bytes read in that time. */
export const MAX_DROPPED_BYTES = 33_554_432;
const CHECK_INTERVAL_MS = 50;

/** Reads and drops the rest of a body; closes the connection if that takes too long or the body is too large. */
export function dropBody(request: IncomingMessage): void {
  const { socket } = request;
  if (socket.destroyed) return;
  // Ignore a connection that fails meanwhile.
  request.on('error', () => undefined);
  // Otherwise Node would read two megabytes of each body in a turn of the event loop, and others would wait for all.
  request.on('data', () => {
    request.pause();
    setImmediate(() => request.resume());
  });
  // The reader of a body that is too large has paused it.
  request.resume();
  const endBytes = socket.bytesRead + MAX_DROPPED_BYTES;
  let checks = 0;
  let [seenBytes, seenAt] = [socket.bytesRead, 0];
  const timer = setInterval(() => {
    checks += 1;
    if (socket.bytesRead > seenBytes) [seenBytes, seenAt] = [socket.bytesRead, checks];
    const isLate =
      checks - seenAt >= LINGER_MS / CHECK_INTERVAL_MS ||
      checks >= LINGER_MAX_MS / CHECK_INTERVAL_MS;
    const isOver = request.complete || socket.destroyed;
    if (!isOver && !isLate && socket.bytesRead < endBytes) return;
    clearInterval(timer);
    if (!isOver) socket.destroySoon();
  }, CHECK_INTERVAL_MS);
  timer.unref();
}
