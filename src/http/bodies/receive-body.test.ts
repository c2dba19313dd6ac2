import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { receiveBody } from './receive-body.ts';

const LIMIT = { limitBytes: 1e9 };

/** Returns a request whose body starts with these bytes, and its connection. */
async function requestWith(body: string): Promise<{
  readonly request: IncomingMessage;
  readonly socket: ReturnType<typeof connect>;
  readonly close: () => void;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  const close = (): void => {
    socket.destroy();
    server.close();
  };
  return { request, socket, close };
}

describe('Request body', () => {
  test('arrives intact for any chunking, with or without a declared length', async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 70_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 8 }),
        fc.boolean(),
        async (chunks, isDeclared) => {
          const whole = Buffer.concat(chunks);
          const stream = Readable.from(chunks, { objectMode: false });
          const declaredBytes = isDeclared ? whole.length : undefined;
          const blocks = await receiveBody(stream, { ...LIMIT, declaredBytes });
          expect(Buffer.concat(blocks).equals(whole)).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('in one-byte chunks uses no more memory than its blocks', async () => {
    const { request, close } = await requestWith(`${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`);
    const blocks = await receiveBody(request, LIMIT);
    expect(Buffer.concat(blocks).equals(Buffer.alloc(100_000, 'x'))).toBe(true);
    expect(blocks.map(({ buffer }) => buffer.byteLength)).toEqual([65_536, 65_536]);
    close();
  });

  test('over the limit is rejected without closing the connection', async () => {
    const { request, close } = await requestWith('a\r\n0123456789\r\n');
    const refused = receiveBody(request, { limitBytes: 9 });
    await expect(refused).rejects.toMatchObject({ code: 'request_too_large' });
    expect(request.socket.destroyed).toBe(false);
    close();
  });

  test('is rejected if the client disconnects before its end', async () => {
    const { request, socket, close } = await requestWith('a\r\n0123456789\r\n');
    const refused = receiveBody(request, LIMIT);
    socket.destroy();
    await expect(refused).rejects.toMatchObject({ code: 'malformed_request' });
    close();
  });
});
