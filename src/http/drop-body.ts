import { type IncomingMessage } from 'node:http';

/**
 * How long a client may go on sending a body that nobody reads, in milliseconds. A connection that is closed while bytes
 * arrive is reset, and a reset takes the answer away from the client that has not read it yet.
 */
export const LINGER_MS = 500;
/** How much of it is taken. */
const MOST_BYTES = 67_108_864;

/** Takes what a client sends after its answer and drops it; the connection ends where that is too much or takes too long. */
export function dropBody(request: IncomingMessage): void {
  const end = (): void => request.socket.destroySoon();
  const timer = setTimeout(end, LINGER_MS);
  const mostRead = request.socket.bytesRead + MOST_BYTES;
  request.on('error', () => undefined);
  request.on('data', () => {
    if (request.socket.bytesRead > mostRead) request.socket.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
