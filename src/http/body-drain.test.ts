import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { BodyDrain } from './body-drain.ts';

const SILENT = 300;
const BODY_BYTES = 1_000_000;

test('a client that goes on sending is read, however many others say that they will', async () => {
  const drain = new BodyDrain();
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.write('refused');
    request.once('close', () => response.end());
    drain.add(request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = (localAddress: string, body: Buffer) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
    socket.write(body);
    return socket;
  };
  const silent = Array.from({ length: SILENT }, () => send('127.0.0.2', Buffer.alloc(0)));
  await expect.poll(() => requests.length).toBe(SILENT);
  const sender = send('127.0.0.3', Buffer.alloc(BODY_BYTES));
  await expect.poll(() => requests.length).toBe(SILENT + 1);
  const sent = requests.at(-1);
  await expect.poll(() => sent?.complete === true || sent?.socket.destroyed === true).toBe(true);
  expect(sent?.complete).toBe(true);
  // The others are ended in their time.
  await expect.poll(() => requests.filter(({ destroyed }) => !destroyed).length).toBe(0);
  for (const socket of [...silent, sender]) socket.destroy();
  server.close();
});
