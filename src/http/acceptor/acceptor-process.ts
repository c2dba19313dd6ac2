// The program of the acceptor's process, see ./acceptor.ts.
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairShares, type Share } from '../../lib/fair-shares.ts';
import { NetworkTurns } from '../../lib/network-turns.ts';
import { nameOfPeer } from '../client-of.ts';
import { type FromAcceptor, type ToAcceptor } from './messages.ts';

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

/** Connections that may wait for the service. */
const MOST_WAITING = 4_096;
/** Connections that are on their way to the service: the next is sent when it has taken the one before. */
const MOST_SENT = 2;
/** How long a port that closes takes connections that keep coming, in milliseconds. */
const CLOSE_WAIT_MS = 250;

const ports = new Map<number, Port>();
const places = new FairShares({ total: MOST_WAITING, perClient: Infinity });
const turns = new NetworkTurns<Arrival>();
let sent = 0;

function say(answer: FromAcceptor, socket?: Socket, taken?: () => void): void {
  process.send?.(answer, socket, undefined, taken);
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
  while (sent < MOST_SENT) {
    const next = turns.next();
    if (next === undefined) break;
    const { port, socket, share } = next;
    share.release();
    port.waiting -= 1;
    if (socket.destroyed) continue;
    sent += 1;
    say({ kind: 'connection', id: port.id }, socket, () => {
      sent -= 1;
      handOver();
    });
  }
  for (const port of ports.values()) sayWhenClosed(port);
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
  if (message.kind === 'listen') {
    listen(message);
    return;
  }
  const port = ports.get(message.id);
  if (port !== undefined) void close(port);
});
// It ends with the service, however that ends, and not before: a signal to the group is the service's to answer. The end of
// a pipe says so also while a connection is on its way, when Node does not tell that the channel has closed.
// eslint-disable-next-line no-restricted-syntax -- a process of its own, which holds nothing that is to be closed
const end = (): void => process.exit();
process.stdin.on('end', end).on('error', end).resume();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => undefined);
}
