import { createHash } from 'node:crypto';
import { type Socket } from 'node:net';
import { deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { startSocketServer, type WebServer } from '../../test/support/web-server.ts';
import { FetchFault } from './fetch-fault.ts';
import { createGuardedFetch, type ExchangeResponse, type GuardedFetch } from './guarded-fetch.ts';

const RFC_6455_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Builds a server frame: unmasked, one fragment (RFC 6455, section 5.2). */
function frame(payload: Buffer, firstByte = 0x81): Buffer {
  const head = Buffer.from([firstByte, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

/** Returns the text of a short masked client frame. */
function readFrame(bytes: Buffer): string {
  const length = bytes[1]! & 0x7f;
  const mask = bytes.subarray(2, 6);
  return String.fromCharCode(...bytes.subarray(6, 6 + length).map((b, at) => b ^ mask[at % 4]!));
}

describe('WebSocket exchange', () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const part of open.splice(0).reverse()) await part.close();
  });

  /** Starts a server that accepts the handshake and then responds to each message with `answer`. */
  async function serve(
    answer: (text: string, socket: Socket) => void,
    extensions = '',
  ): Promise<WebServer> {
    const server = await startSocketServer((socket, first) => {
      const key = /sec-websocket-key: (.*)\r/i.exec(String(first))?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}${RFC_6455_GUID}`).digest('base64');
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `${extensions}Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.on('data', (bytes: Buffer) => answer(readFrame(bytes), socket));
    });
    open.push(server);
    return server;
  }

  function guard(...servers: WebServer[]): GuardedFetch {
    const guarded = createGuardedFetch({
      allowPrivate: servers.map(({ hostPort }) => hostPort),
      maxBytes: 10_000,
      deadlineMs: 1000,
      maxRedirects: 3,
      userAgent: 'fullmatch-test',
    });
    open.push(guarded);
    return guarded;
  }

  async function codeOf(asked: Promise<unknown>): Promise<string> {
    try {
      return `answered ${String(await asked)}`;
    } catch (error) {
      return error instanceof FetchFault ? error.code : String(error);
    }
  }

  const ask = (guarded: GuardedFetch, { hostPort }: WebServer): Promise<ExchangeResponse> =>
    guarded.exchange(`ws://${hostPort}/key?x`, { body: 'ping' });

  test('returns the first message received after sending', async () => {
    const server = await serve((text, socket) => socket.write(frame(Buffer.from(`${text} pong`))));
    const { status, body } = await ask(guard(server), server);
    expect([status, String(body)]).toEqual([101, 'ping pong']);
  });

  test('never reaches a private address that the operator did not allow', async () => {
    const canary = await serve(() => undefined);
    const guarded = guard();
    for (const host of ['127.0.0.1', '127.1', '[::ffff:127.0.0.1]', 'localhost', '0x7f000001']) {
      const asked = guarded.exchange(`ws://${host}:${canary.port}/`, { body: '' });
      expect(await codeOf(asked)).toBe('address_not_allowed');
    }
    expect(canary.connections()).toBe(0);
  });

  test('rejects other schemes and credentials', async () => {
    const guarded = guard();
    for (const [url, code] of [
      ['https://a.example/', 'scheme_not_allowed'],
      ['ws://name:password@a.example/', 'url_not_allowed'],
    ] as const) {
      expect(await codeOf(guarded.exchange(url, { body: '' }))).toBe(code);
    }
    expect(await codeOf(guarded.fetch('wss://a.example/'))).toBe('scheme_not_allowed');
  });

  test('fails on an oversized message, also a compressed one', async () => {
    const large = await serve((_text, socket) => socket.write(frame(Buffer.alloc(10_001, 'a'))));
    expect(await codeOf(ask(guard(large), large))).toBe('connection_failed');
    // RSV1 marks a compressed message (RFC 7692).
    const bomb = frame(deflateRawSync(Buffer.alloc(50_000_000)), 0xc1);
    const bombing = await serve(
      (_text, socket) => socket.write(bomb),
      'Sec-WebSocket-Extensions: permessage-deflate\r\n',
    );
    expect(await codeOf(ask(guard(bombing), bombing))).toBe('connection_failed');
  });

  test('fails at its deadline if no message arrives', async () => {
    const silent = await serve(() => undefined);
    expect(await codeOf(ask(guard(silent), silent))).toBe('deadline_exceeded');
  });

  async function answerHandshake(answer: string): Promise<WebServer> {
    const server = await startSocketServer((socket) => socket.end(answer));
    open.push(server);
    return server;
  }

  test.each([
    ['401 Unauthorized', { status: 401 }],
    ['429 Too Many\r\nRetry-After: 7', { status: 429, retryAfterMs: 7000 }],
  ])('returns the status of a rejected handshake: %j', async (head, answer) => {
    const server = await answerHandshake(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`);
    expect(await ask(guard(server), server)).toEqual({ ...answer, body: Buffer.alloc(0) });
  });

  test('respects Retry-After of the handshake', async () => {
    const busy = await answerHandshake('HTTP/1.1 429 No\r\nRetry-After: 7\r\n\r\n');
    const guarded = guard(busy);
    expect((await ask(guarded, busy)).status).toBe(429);
    const connections = busy.connections();
    expect(await codeOf(ask(guarded, busy))).toBe('throttled');
    expect(busy.connections()).toBe(connections);
  });

  test('follows no redirect', async () => {
    const canary = await serve(() => undefined);
    const location = `Location: ws://${canary.hostPort}/`;
    const server = await answerHandshake(`HTTP/1.1 302 Found\r\n${location}\r\n\r\n`);
    expect(await codeOf(ask(guard(server, canary), server))).toBe('too_many_redirects');
    expect(canary.connections()).toBe(0);
  });

  test('fails on an invalid handshake or a disconnect', async () => {
    for (const refusal of ['nonsense', '']) {
      const server = await answerHandshake(refusal);
      expect([refusal, await codeOf(ask(guard(server), server))]).toEqual([
        refusal,
        'connection_failed',
      ]);
    }
    const hangingUp = await serve((_text, socket) => socket.destroy());
    expect(await codeOf(ask(guard(hangingUp), hangingUp))).toBe('connection_failed');
  });
});
