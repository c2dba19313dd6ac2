import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { type Context } from 'hono';
import { FullmatchError } from '../../errors.ts';

/** Connection of a request and its response. */
export interface RequestConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly outgoing: ServerResponse;
}

const endsOfSockets = new WeakMap<Socket, Set<() => void>>();

/** Returns the connection of a request; undefined for the in-process requests of pages. */
export function connectionOf(c: Pick<Context, 'env'>): RequestConnection | undefined {
  const { incoming, outgoing } = (c.env ?? {}) as {
    incoming?: IncomingMessage;
    outgoing?: ServerResponse;
  };
  return incoming && outgoing && { incoming, socket: incoming.socket, outgoing };
}

/** Returns whether the client can no longer receive a response. */
export function isGone({ socket, outgoing }: RequestConnection): boolean {
  return socket.destroyed || outgoing.destroyed;
}

/**
 * Calls `onEnd` once when the response has been received or its connection is gone. The returned function
 * cancels that.
 */
export function whenEnded({ socket, outgoing }: RequestConnection, onEnd: () => void): () => void {
  const ends = endsOn(socket);
  const forget = (): void => {
    ends.delete(end);
    outgoing.off('close', end);
  };
  const end = (): void => {
    forget();
    onEnd();
  };
  ends.add(end);
  outgoing.once('close', end);
  return forget;
}

/**
 * Does work for a request with a signal that aborts when the client disconnects.
 * @throws FullmatchError malformed_request if the client has disconnected; errors of `work`
 */
export async function withClientSignal<T>(
  c: Context,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = connectionOf(c);
  const left = new AbortController();
  const leave = (): void => left.abort(clientLeft());
  if (connection === undefined) return work(left.signal);
  if (isGone(connection)) leave();
  const forget = whenEnded(connection, leave);
  try {
    const done = await work(left.signal);
    left.signal.throwIfAborted();
    return done;
  } finally {
    forget();
  }
}

function clientLeft(): FullmatchError {
  return new FullmatchError('malformed_request', 'The client left before it had its answer.');
}

/**
 * Returns the callbacks for the end of a connection: a response queued behind others on the connection gets
 * no close event of its own.
 */
function endsOn(socket: Socket): Set<() => void> {
  const known = endsOfSockets.get(socket);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  endsOfSockets.set(socket, ends);
  socket.once('close', () => [...ends].forEach((end) => end()));
  return ends;
}
