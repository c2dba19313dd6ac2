import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { acceptorProcesses } from '../../../test/support/acceptor-processes.ts';
import { descriptorLimit } from '../../lib/descriptor-limit.ts';
import { createLogger, silentLogger, type Logger } from '../../log.ts';
import { Acceptor, type AcceptedPort } from './acceptor.ts';

const BACKLOG = 512;
const acceptors: Acceptor[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(acceptors.splice(0).map((acceptor) => acceptor.close()));
});

function open(log: Logger = silentLogger): Acceptor {
  const acceptor = new Acceptor(log);
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

test('hands over connections with all that their clients sent, also before they were taken', async () => {
  const { port } = await listenOn(open());
  const client = await dial(port);
  client.end('early');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toBe('EARLY');
  await once(client, 'close');
});

/** Takes connections slowly, and says from which addresses they were. */
function takeSlowly(): { taken: (string | undefined)[]; take: (socket: Socket) => void } {
  const taken: (string | undefined)[] = [];
  const take = (socket: Socket): void => {
    taken.push(socket.remoteAddress);
    // The turn of a service that works for the connection that came.
    const start = performance.now();
    while (performance.now() - start < 5);
    sockets.push(socket);
  };
  return { taken, take };
}

/** Expects that a newcomer is taken before a crowd that came first. */
async function expectFairTurns(port: number, taken: (string | undefined)[]): Promise<void> {
  const flood = Array.from({ length: 200 }, () => dial(port, '127.0.0.2'));
  await flood[0];
  while (taken.length < 5) await new Promise((resolve) => setImmediate(resolve));
  await dial(port, '127.0.0.3');
  await expect.poll(() => taken.length).toBe(201);
  expect(taken.indexOf('127.0.0.3')).toBeLessThan(150);
  await Promise.all(flood);
}

test('hands over one connection of each network in turn while its service is busy', async () => {
  const { taken, take } = takeSlowly();
  const { port } = await listenOn(open(), 0, take);
  await expectFairTurns(port, taken);
});

/** Connects while a process may open nothing more, until all of its connections are lost. */
const CONNECT_IN_VAIN = `
const { execFileSync } = require('node:child_process');
const [port, pid, connections, before] = process.argv.slice(1);
const allow = (limit) => execFileSync('prlimit', ['--pid', pid, '--nofile=' + limit + ':']);
let lost = 0;
allow(3);
for (let index = 0; index < connections; index += 1) {
  const socket = require('node:net').connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  socket.on('error', () => {}).on('close', () => {
    if ((lost += 1) === Number(connections)) allow(before);
  });
}
setTimeout(() => allow(before), 60_000).unref();
`;

test('goes on handing over in turn after its service had no descriptors for connections', async () => {
  let text = '';
  const { taken, take } = takeSlowly();
  const { port } = await listenOn(
    open(createLogger('info', { write: (line) => (text += line) })),
    0,
    take,
  );
  const args = [port, process.pid, 40, descriptorLimit()].map(String);
  const crowd = spawn(process.execPath, ['-e', CONNECT_IN_VAIN, ...args], { stdio: 'inherit' });
  expect(await once(crowd, 'exit')).toEqual([0, null]);
  expect(taken).toEqual([]);
  await expectFairTurns(port, taken);
  // One line tells of the first of them; the next may come after ten seconds.
  await expect.poll(() => text).toContain('"event":"connections_lost"');
  const counts = [...text.matchAll(/"connections":(\d+)/g)].map(([, count]) => Number(count));
  expect(counts[0]).toBe(1);
  expect(counts.length).toBeLessThanOrEqual(2);
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
  const [lost = 0] = await acceptorProcesses();
  process.kill(lost, 'SIGKILL');
  await expect.poll(async () => (await acceptorProcesses()).some((id) => id !== lost)).toBe(true);
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
  expect(await acceptorProcesses()).not.toContain(lost);
});

test.each([0, 30, 110, 180])(
  'closes a port for good that it is told to close %i ms after its process was lost',
  async (delayMs) => {
    const acceptor = open();
    const accepted = await listenOn(acceptor);
    const [lost = 0] = await acceptorProcesses();
    process.kill(lost, 'SIGKILL');
    await wait(delayMs);
    await accepted.close();
    const isOpen = (): Promise<boolean> =>
      dial(accepted.port).then(
        () => true,
        () => false,
      );
    // The process that takes its place may have been told to open it.
    await expect.poll(async () => (await acceptorProcesses()).some((id) => id !== lost)).toBe(true);
    const { port } = await listenOn(acceptor);
    expect(await say(await dial(port), 'a')).toBe('A');
    await expect.poll(isOpen).toBe(false);
  },
);

test('stays when its group is told to end, and ends with its service', async () => {
  const acceptor = open();
  const { port } = await listenOn(acceptor);
  const [id = 0] = await acceptorProcesses();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(id, signal);
  expect(await say(await dial(port), 'a')).toBe('A');
  await acceptor.close();
  expect(await acceptorProcesses()).toEqual([]);
});
