import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../log.ts';
import { Acceptor, type AcceptedPort } from './acceptor.ts';

const BACKLOG = 512;
const acceptors: Acceptor[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(acceptors.splice(0).map((acceptor) => acceptor.close()));
});

function open(): Acceptor {
  const acceptor = new Acceptor(silentLogger);
  acceptors.push(acceptor);
  return acceptor;
}

async function dial(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Says each line in capitals, and ends when its client ends. */
function shout(socket: Socket): void {
  sockets.push(socket);
  socket.allowHalfOpen = true;
  socket.on('data', (bytes) => socket.write(bytes.toString().toUpperCase()));
  socket.on('end', () => socket.end());
}

const listenOn = (acceptor: Acceptor, port = 0, take = shout): Promise<AcceptedPort> =>
  acceptor.listen({ host: '127.0.0.1', port, backlog: BACKLOG }, take);

async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

/** The processes that this one has started to accept connections. */
async function processesOf(): Promise<readonly number[]> {
  const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1');
  const ids = children.split(' ').filter(Boolean).map(Number);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1')));
  return ids.filter((_, index) => lines[index]?.includes('acceptor-process'));
}

test('hands over connections with all that their clients sent, also before they were taken', async () => {
  const { port } = await listenOn(open());
  const client = await dial(port);
  client.end('early');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toBe('EARLY');
  await once(client, 'close');
});

test('hands over one connection of each network in turn while its service is busy', async () => {
  const taken: (string | undefined)[] = [];
  const { port } = await listenOn(open(), 0, (socket) => {
    taken.push(socket.remoteAddress);
    // The turn of a service that works for the connection that came.
    const start = performance.now();
    while (performance.now() - start < 5);
    sockets.push(socket);
  });
  const flood = Array.from({ length: 200 }, () => dial(port, '127.0.0.2'));
  await flood[0];
  while (taken.length < 5) await new Promise((resolve) => setImmediate(resolve));
  await dial(port, '127.0.0.3');
  await expect.poll(() => taken.length).toBe(201);
  expect(taken.indexOf('127.0.0.3')).toBeLessThan(150);
  await Promise.all(flood);
});

test('names why a port cannot be opened', async () => {
  const first = await listenOn(open());
  await expect(listenOn(open(), first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('hands over all that was accepted before a port closes, and takes nothing more', async () => {
  let taken = 0;
  const accepted = await listenOn(open(), 0, (socket) => {
    taken += 1;
    sockets.push(socket);
  });
  await Promise.all(Array.from({ length: 50 }, () => dial(accepted.port)));
  await accepted.close();
  expect(taken).toBe(50);
  await expect(dial(accepted.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('opens the same ports again in another process when its process is lost, and keeps connections', async () => {
  const acceptor = open();
  const { port } = await listenOn(acceptor);
  const stayed = await dial(port);
  expect(await say(stayed, 'a')).toBe('A');
  const [lost = 0] = await processesOf();
  process.kill(lost, 'SIGKILL');
  await expect.poll(async () => (await processesOf()).some((id) => id !== lost)).toBe(true);
  await expect
    .poll(() =>
      dial(port).then(
        () => 'connected',
        () => 'refused',
      ),
    )
    .toBe('connected');
  expect(await say(stayed, 'b')).toBe('B');
  expect(await say(await dial(port), 'c')).toBe('C');
  expect(await processesOf()).not.toContain(lost);
});

test('stays when its group is told to end, and ends with its service', async () => {
  const acceptor = open();
  const { port } = await listenOn(acceptor);
  const [id = 0] = await processesOf();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(id, signal);
  expect(await say(await dial(port), 'a')).toBe('A');
  await acceptor.close();
  expect(await processesOf()).toEqual([]);
});
