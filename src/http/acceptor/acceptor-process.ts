// The program of the acceptor's process, see ./acceptor.ts.
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { descriptorLimit } from '../../lib/descriptor-limit.ts';
import { FairShares, type Share } from '../../lib/fair-shares.ts';
import { NetworkTurns } from '../../lib/network-turns.ts';
import { nameOfPeer } from '../client-of.ts';
import { LOST_WARNING, type FromAcceptor, type ToAcceptor } from './messages.ts';

interface Port {
  readonly id: number;
  readonly server: Server;
  /** Connections that were accepted, and how many of them wait for the service. */
  accepted: number;
  waiting: number;
  isClosing: boolean;
}

interface Arrival {
  readonly port: Port;
  readonly socket: Socket;
  readonly share: Share;
}

/** Connections that may wait for the service; each holds a descriptor. */
const MOST_WAITING = Math.min(4_096, Math.floor(descriptorLimit() / 2));
/** Connections that are on their way to the service: the next is sent when it has taken the one before. */
const MOST_SENT = 2;
/** How long a connection counts as on its way while no answer comes, in milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** How long a port that closes takes connections that keep coming, in milliseconds. */
const CLOSE_WAIT_MS = 250;

const ports = new Map<number, Port>();
const places = new FairShares({ total: MOST_WAITING, perClient: Infinity });
const turns = new NetworkTurns<Arrival>();
/** Connections on their way to the service by number, the oldest first, with what ends the wait for its answer. */
const sent = new Map<number, NodeJS.Timeout>();
let connections = 0;

function say(answer: FromAcceptor, socket?: Socket, told?: (error: Error | null) => void): void {
  process.send?.(answer, socket, undefined, told);
}

function arrive(port: Port, socket: Socket): void {
  // Nothing is read here, so that all that is heard of a connection is its fault.
  socket.on('error', () => undefined);
  port.accepted += 1;
  const client = nameOfPeer(socket);
  const share = places.open(client, () => {
    remove();
    port.waiting -= 1;
    socket.destroy();
  });
  if (share.grow(1) !== 'granted') {
    socket.destroy();
    return;
  }
  const remove = turns.add(client, { port, socket, share });
  port.waiting += 1;
  handOver();
}

/** Hands connections to the service as fast as it takes them. */
function handOver(): void {
  while (sent.size < MOST_SENT) {
    const next = turns.next();
    if (next === undefined) break;
    const { port, socket, share } = next;
    share.release();
    port.waiting -= 1;
    if (socket.destroyed) continue;
    const connection = (connections += 1);
    sent.set(
      connection,
      setTimeout(() => arrived(connection), ANSWER_TIMEOUT_MS),
    );
    // Node tells the callback that a connection was written, at each of several tries, and not that it was taken.
    say({ kind: 'connection', id: port.id, connection }, socket, (error) => {
      if (error !== null) lost(connection);
    });
  }
  for (const port of ports.values()) sayWhenClosed(port);
}

/** Counts a connection as on its way no more; a second time does nothing. */
function arrived(connection: number): void {
  clearTimeout(sent.get(connection));
  if (sent.delete(connection)) handOver();
}

function lost(connection: number | undefined): void {
  if (connection === undefined || !sent.has(connection)) return;
  say({ kind: 'lost' });
  arrived(connection);
}

function sayWhenClosed({ id, isClosing, waiting }: Port): void {
  if (!isClosing || waiting > 0) return;
  ports.delete(id);
  // Messages keep their order: the service has all connections before it hears this.
  say({ kind: 'closed', id });
}

function listen({ id, ...where }: Extract<ToAcceptor, { kind: 'listen' }>): void {
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
  const port: Port = { id, server, accepted: 0, waiting: 0, isClosing: false };
  server.on('connection', (socket) => arrive(port, socket));
  server.once('error', (error: NodeJS.ErrnoException) => {
    const { code, message } = error;
    say({ kind: 'failed', id, message, ...(code !== undefined && { code }) });
  });
  server.listen(where, () => {
    const address = server.address();
    ports.set(id, port);
    say({
      kind: 'listening',
      id,
      port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    });
  });
}

/** Closes a port once the kernel holds no connection of it that is complete: those would be reset. */
async function close(port: Port): Promise<void> {
  const start = performance.now();
  let before: number;
  do {
    before = port.accepted;
    // Between the first turn's end and the second's there is a whole look at what has come.
    await nextTurn();
    await nextTurn();
  } while (port.accepted !== before && performance.now() - start < CLOSE_WAIT_MS);
  port.server.close();
  port.isClosing = true;
  sayWhenClosed(port);
}

process.on('message', (message: ToAcceptor) => {
  switch (message.kind) {
    case 'listen':
      listen(message);
      break;
    case 'taken':
      arrived(message.connection);
      break;
    case 'close': {
      const port = ports.get(message.id);
      if (port !== undefined) void close(port);
      break;
    }
  }
});
// Node sends one connection at a time, so that the oldest is the one that it gives up.
process.on('warning', ({ name }) => {
  if (name === LOST_WARNING) lost(sent.keys().next().value);
});
// It ends with the service, however that ends, and not before: a signal to the group is the service's to answer. The end of
// a pipe says so also while a connection is on its way, when Node does not tell that the channel has closed.
// eslint-disable-next-line no-restricted-syntax -- a process of its own, which holds nothing that is to be closed
const end = (): void => process.exit();
process.stdin.on('end', end).on('error', end).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => undefined);
}
