import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { type Context } from 'hono';
import { FullmatchError } from '../../errors.ts';

/** What a request comes over, and its answer goes over. */
export interface AnswerConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly outgoing: ServerResponse;
}

const endsOfSockets = new WeakMap<Socket, Set<() => void>>();

/** The connection of a request; undefined for pages, which ask without one. */
export function connectionOf(c: Pick<Context, 'env'>): AnswerConnection | undefined {
  const { incoming, outgoing } = (c.env ?? {}) as {
    incoming?: IncomingMessage;
    outgoing?: ServerResponse;
  };
  return incoming && outgoing && { incoming, socket: incoming.socket, outgoing };
}

/** Whether nobody can take an answer any more. */
export function isGone({ socket, outgoing }: AnswerConnection): boolean {
  return socket.destroyed || outgoing.destroyed;
}

/** Tells once that an answer was taken or that its connection is gone. The result ends the wait. */
export function whenEnded({ socket, outgoing }: AnswerConnection, tell: () => void): () => void {
  const ends = endsOn(socket);
  const forget = (): void => {
    ends.delete(end);
    outgoing.off('close', end);
  };
  const end = (): void => {
    forget();
    tell();
  };
  ends.add(end);
  outgoing.once('close', end);
  return forget;
}

/**
 * Does work for a request, with a signal that fires when its client leaves.
 * @throws FullmatchError malformed_request for a client that has left; what `work` throws
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

/** What is to end with a connection: an answer that waits behind others on it is not told that it closed. */
function endsOn(socket: Socket): Set<() => void> {
  const known = endsOfSockets.get(socket);
  if (known !== undefined) return known;
  const ends = new Set<() => void>();
  endsOfSockets.set(socket, ends);
  socket.once('close', () => [...ends].forEach((end) => end()));
  return ends;
}
