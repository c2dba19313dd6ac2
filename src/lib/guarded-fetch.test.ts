import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer as createTlsServer } from 'node:https';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Gate } from '../../test/support/gate.ts';
import {
  startSocketServer,
  startWebServer,
  type WebServer,
} from '../../test/support/web-server.ts';
import { FetchFault } from './fetch-fault.ts';
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
} from './guarded-fetch.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(...[listener]: Parameters<typeof startWebServer>): Promise<WebServer> {
  const server = await startWebServer(listener);
  closers.push(server.close);
  return server;
}

async function speak(...[script]: Parameters<typeof startSocketServer>): Promise<WebServer> {
  const server = await startSocketServer(script);
  closers.push(server.close);
  return server;
}

function guard(
  servers: readonly WebServer[],
  options: Partial<GuardedFetchOptions> = {},
): GuardedFetch {
  const guarded = createGuardedFetch({
    allowPrivate: servers.map(({ hostPort }) => hostPort),
    maxBytes: 100_000,
    deadlineMs: 5000,
    maxRedirects: 3,
    userAgent: 'fullmatch-test',
    ...options,
  });
  closers.push(() => guarded.close());
  return guarded;
}

async function faultOf(request: Promise<unknown>): Promise<FetchFault> {
  const error: unknown = await request.then(
    () => new Error('answered'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FetchFault);
  return error as FetchFault;
}

function collect(): { sink: Writable; text: () => string } {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, callback) {
      chunks.push(chunk);
      callback();
    },
  });
  sink.on('error', () => undefined);
  return { sink, text: () => Buffer.concat(chunks).toString() };
}

describe('Guarded fetch', () => {
  test('returns status, headers and body of any response', async () => {
    const server = await serve((request, response) => {
      response.writeHead(404, {
        'X-Seen': request.headers['user-agent'],
        'Set-Cookie': ['a', 'b'],
      });
      response.end(`${request.method ?? ''} ${request.url ?? ''}`);
    });
    const answer = await guard([server]).fetch(`${server.url}/a?b=c#d`);
    expect(answer).toMatchObject({
      status: 404,
      url: `${server.url}/a?b=c#d`,
      redirects: 0,
      headers: { 'x-seen': 'fullmatch-test', 'set-cookie': 'a, b' },
    });
    expect(answer.body.toString()).toBe('GET /a?b=c');
  });

  test('sends a body', async () => {
    const server = await serve((request, response) => {
      request.pipe(response);
    });
    const answer = await guard([server]).fetch(server.url, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: 'echo',
    });
    expect(answer.body.toString()).toBe('echo');
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['identity', (text: string) => Buffer.from(text)],
  ])('decodes content coding %s', async (coding, encode) => {
    const text = 'verified '.repeat(2000);
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(encode(text));
    });
    const answer = await guard([server]).fetch(server.url);
    expect(answer.body.toString()).toBe(text);
  });

  test('accepts empty bodies and HEAD despite a content coding', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end();
    });
    const guarded = guard([server]);
    expect((await guarded.fetch(server.url)).body).toHaveLength(0);
    expect((await guarded.fetch(server.url, { method: 'HEAD' })).body).toHaveLength(0);
  });

  test('reuses connections', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const guarded = guard([server]);
    for (let index = 0; index < 5; index += 1) await guarded.fetch(server.url);
    expect(server.connections()).toBeLessThan(5);
  });

  test('rejects headers that HTTP sets itself', async () => {
    const guarded = guard([]);
    await expect(guarded.fetch('https://a.example/', { headers: { Host: 'b' } })).rejects.toThrow(
      TypeError,
    );
  });

  test('sends a request that began before the list of private hosts was replaced', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const guarded = guard([server]);
    const response = guarded.fetch(server.url);
    guarded.allowOnly([]);
    expect(await response).toMatchObject({ status: 200 });
  });

  test('rejects requests after close', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const guarded = guard([server]);
    await guarded.close();
    expect(await faultOf(guarded.fetch(server.url))).toMatchObject({ code: 'connection_failed' });
  });
});

describe('Private hosts', () => {
  test('are reachable at exactly the allowed host and port', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const guarded = guard([server], { resolve: async () => ['127.0.0.1'] });
    expect((await guarded.fetch(server.url)).status).toBe(200);
    for (const host of ['localhost', '[::ffff:127.0.0.1]', '127.0.0.2']) {
      const fault = await faultOf(guarded.fetch(`http://${host}:${server.port}/`));
      expect(fault.code).toBe('address_not_allowed');
    }
    expect(server.connections()).toBe(1);
  });

  test('are reachable by name if the name is allowed', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const guarded = guard([], {
      allowPrivate: [`Node.Internal:${server.port}`],
      resolve: async () => ['127.0.0.1'],
    });
    expect((await guarded.fetch(`http://node.internal:${server.port}/`)).status).toBe(200);
  });

  test('follow the current allow list, even on an open connection', async () => {
    const asked = new Gate();
    const gate = new Gate();
    const [first, second] = [
      await serve((_request, response) => response.end('1')),
      await serve((_request, response) => {
        asked.open();
        void gate.opened.then(() => response.end('2'));
      }),
    ];
    const guarded = guard([], {
      allowPrivate: [`node.example:${first.port}`],
      resolve: async () => ['127.0.0.1'],
    });
    const url = (server: WebServer): string => `http://node.example:${server.port}/`;
    expect((await guarded.fetch(url(first))).status).toBe(200);
    expect((await faultOf(guarded.fetch(url(second)))).code).toBe('address_not_allowed');
    guarded.allowOnly([`node.example:${second.port}`]);
    // The connection to the first server is still alive.
    expect((await faultOf(guarded.fetch(url(first)))).code).toBe('address_not_allowed');
    const underWay = guarded.fetch(url(second));
    await asked.opened;
    guarded.allowOnly([]);
    gate.open();
    expect((await underWay).body.toString()).toBe('2');
    expect(() => guarded.allowOnly(['no port'])).toThrow(TypeError);
  });

  test('are not reachable by redirect, although allowed and connected', async () => {
    const node = await serve((_request, response) => response.end('x'));
    const other = await serve((_request, response) => {
      response.writeHead(307, { location: `${node.url}/` }).end();
    });
    const guarded = guard([node, other]);
    await guarded.fetch(node.url);
    const fault = await faultOf(guarded.fetch(other.url));
    expect(fault).toMatchObject({ code: 'address_not_allowed', details: { range: 'redirect' } });
  });

  test('are not reachable by DNS rebinding: the connected address is checked', async () => {
    const canary = await serve((_request, response) => response.end('x'));
    let asked = 0;
    const guarded = guard([], {
      stepTimeoutMs: 300,
      // Alternates between a public address without a server and the canary's address.
      resolve: async () => [asked++ % 2 === 0 ? '8.8.8.8' : '127.0.0.1'],
    });
    const codes = new Set<string>();
    for (let index = 0; index < 4; index += 1) {
      codes.add((await faultOf(guarded.fetch(`http://rebind.example:${canary.port}/`))).code);
    }
    expect(codes).toContain('address_not_allowed');
    expect(canary.connections()).toBe(0);
  });

  test('among the public addresses of a name are skipped', async () => {
    const canary = await serve((_request, response) => response.end('x'));
    const guarded = guard([], {
      stepTimeoutMs: 300,
      resolve: async () => ['127.0.0.1', '::1', '8.8.8.8'],
    });
    const fault = await faultOf(guarded.fetch(`http://mixed.example:${canary.port}/`));
    expect(fault.code).not.toBe('address_not_allowed');
    expect(canary.connections()).toBe(0);
  });
});

describe('Redirects', () => {
  test('are followed up to the limit', async () => {
    const server = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step === 0) response.end('there');
      else response.writeHead(302, { location: `/${step - 1}` }).end('elsewhere');
    });
    const guarded = guard([server]);
    const answer = await guarded.fetch(`${server.url}/3`);
    expect(answer).toMatchObject({ status: 200, redirects: 3, url: `${server.url}/0` });
    expect(await faultOf(guarded.fetch(`${server.url}/4`))).toMatchObject({
      code: 'too_many_redirects',
    });
    expect(await faultOf(guarded.fetch(`${server.url}/1`, { maxRedirects: 0 }))).toMatchObject({
      code: 'too_many_redirects',
    });
  });

  test('in a loop are aborted', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(308, { location: '/' }).end();
    });
    const fault = await faultOf(guard([server]).fetch(server.url));
    expect(fault.code).toBe('too_many_redirects');
  });

  test('without a location are returned as responses', async () => {
    const server = await serve((_request, response) => response.writeHead(302).end('x'));
    expect(await guard([server]).fetch(server.url)).toMatchObject({ status: 302 });
  });
});

describe('Size limits', () => {
  const bomb = Buffer.alloc(20_000_000);

  test.each([
    ['gzip', gzipSync(bomb)],
    ['deflate', deflateSync(bomb)],
    ['deflate', deflateRawSync(bomb)],
    ['br', brotliCompressSync(bomb)],
  ])('apply after decompression (%s)', async (coding, body) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(body);
    });
    const guarded = guard([server]);
    expect(body.length).toBeLessThan(100_000);
    expect((await faultOf(guarded.fetch(server.url))).code).toBe('response_too_large');
    const { sink, text } = collect();
    expect((await faultOf(guarded.download(server.url, sink))).code).toBe('response_too_large');
    expect(text().length).toBeLessThanOrEqual(100_000);
    expect(sink.destroyed).toBe(true);
  });

  test('apply to bytes on the wire', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(100_001)));
    const guarded = guard([server]);
    expect((await faultOf(guarded.fetch(server.url))).code).toBe('response_too_large');
    const answer = await guarded.fetch(server.url, { maxBytes: 100_001 });
    expect(answer.body).toHaveLength(100_001);
  });

  test('abort an endless body', async () => {
    const server = await serve((_request, response) => {
      const chunk = Buffer.alloc(16_384);
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write);
      write();
    });
    expect((await faultOf(guard([server]).fetch(server.url))).code).toBe('response_too_large');
  });

  test('apply to headers', async () => {
    const server = await speak((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`);
    });
    expect((await faultOf(guard([server]).fetch(server.url))).code).toBe('response_too_large');
  });
});

describe('Invalid responses', () => {
  test.each([
    [
      'a body that ends early',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
      'malformed_response',
    ],
    [
      'a chunk that ends early',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc',
      'malformed_response',
    ],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'malformed_response',
    ],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'malformed_response',
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'malformed_response'],
    [
      'a bad chunk size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      'malformed_response',
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 'malformed_response'],
    ['nothing', '', 'connection_failed'],
    ['half a head', 'HTTP/1.1 200 OK\r\nContent-Le', 'connection_failed'],
    [
      'a broken gzip',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello',
      'malformed_response',
    ],
    [
      'a broken brotli',
      'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nhello',
      'malformed_response',
    ],
    [
      'a broken deflate',
      'HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 5\r\n\r\nhello',
      'malformed_response',
    ],
    [
      'a coding nobody asked for',
      'HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 5\r\n\r\nhello',
      'malformed_response',
    ],
    [
      'two codings',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 5\r\n\r\nhello',
      'malformed_response',
    ],
  ])('%s', async (_what, text, code) => {
    const server = await speak((socket) => socket.end(text));
    expect((await faultOf(guard([server]).fetch(server.url))).code).toBe(code);
  });

  test('gzip truncated at any position', async () => {
    const whole = gzipSync('x'.repeat(100) + createHash('sha512').update('y').digest('hex'));
    const server = await serve((request, response) => {
      const cut = whole.subarray(0, Number(request.url?.slice(1)));
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(cut);
    });
    const guarded = guard([server], { breaker: { failures: 10_000 } });
    for (let length = 1; length < whole.length; length += 7) {
      const fault = await faultOf(guarded.fetch(`${server.url}/${length}`));
      expect([length, fault.code]).toEqual([length, 'malformed_response']);
    }
    expect((await guarded.fetch(`${server.url}/${whole.length}`)).status).toBe(200);
  });

  test('connection refused', async () => {
    const server = await serve((_request, response) => response.end());
    await server.close();
    const fault = await faultOf(guard([server]).fetch(server.url));
    expect(fault).toMatchObject({
      code: 'connection_failed',
      details: { origin: server.url, reason: 'ECONNREFUSED' },
    });
  });

  test('unresolvable name', async () => {
    const guarded = guard([], { resolve: async () => [] });
    expect(await faultOf(guarded.fetch('https://no.example/'))).toMatchObject({
      code: 'connection_failed',
      details: { reason: 'ENOTFOUND' },
    });
  });
});

describe('Timeouts', () => {
  test('limit the whole request, however slowly a body drips', async () => {
    const server = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    // The body never ends, so only the deadline can end the request.
    const fault = await faultOf(guard([server]).fetch(server.url, { deadlineMs: 300 }));
    expect(fault).toMatchObject({ code: 'deadline_exceeded', details: { reason: 'deadline' } });
  });

  test('limit a dripping compressed body, buffered or downloaded', async () => {
    let closed = 0;
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const packer = createGzip();
      packer.pipe(response);
      const timer = setInterval(() => {
        packer.write('x');
        packer.flush();
      }, 20);
      response.on('close', () => {
        closed += 1;
        clearInterval(timer);
      });
    });
    const guarded = guard([server]);
    const { sink, text } = collect();
    const ends = [
      guarded.fetch(server.url, { deadlineMs: 300 }),
      guarded.download(server.url, sink, { deadlineMs: 300 }),
    ];
    for (const end of ends) expect((await faultOf(end)).code).toBe('deadline_exceeded');
    expect(text()).toMatch(/^x+$/);
    expect(sink.destroyed).toBe(true);
    await vi.waitFor(() => expect(closed).toBe(2));
  });

  test('limit dripping headers', async () => {
    const server = await speak((socket) => {
      const timer = setInterval(() => socket.write('X'), 20);
      socket.on('close', () => clearInterval(timer));
      socket.write('HTTP/1.1 200 OK\r\nX: ');
    });
    const fault = await faultOf(guard([server]).fetch(server.url, { deadlineMs: 300 }));
    expect(fault.code).toBe('deadline_exceeded');
  });

  test('span redirects', async () => {
    const server = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 150);
    });
    const fault = await faultOf(
      guard([server], { maxRedirects: 100 }).fetch(server.url, { deadlineMs: 400 }),
    );
    expect(fault.code).toBe('deadline_exceeded');
  });

  test('limit name resolution', async () => {
    const guarded = guard([], { resolve: () => new Promise(() => undefined) });
    const fault = await faultOf(guarded.fetch('https://slow.example/', { deadlineMs: 200 }));
    expect(fault.code).toBe('deadline_exceeded');
  });

  test('limit each step', async () => {
    const silent = await speak(() => undefined);
    const stalled = await speak((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx');
    });
    const guarded = guard([silent, stalled], { stepTimeoutMs: 200 });
    expect(await faultOf(guarded.fetch(silent.url))).toMatchObject({
      code: 'deadline_exceeded',
      details: { reason: 'headers' },
    });
    expect(await faultOf(guarded.fetch(stalled.url))).toMatchObject({
      code: 'deadline_exceeded',
      details: { reason: 'body' },
    });
  });

  test("yield to the caller's abort reason", async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const server = await speak(() => controller.abort(reason));
    const guarded = guard([server]);
    await expect(guarded.fetch(server.url, { signal: controller.signal })).rejects.toBe(reason);
    await expect(guarded.fetch(server.url, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('Failing hosts', () => {
  const breaker = { failures: 3, backoffMs: 60_000 };

  test('are paused after failures without further requests', async () => {
    const server = await serve((_request, response) => response.writeHead(500).end('x'));
    const guarded = guard([server], { breaker });
    for (let index = 0; index < 3; index += 1) {
      expect((await guarded.fetch(server.url)).status).toBe(500);
    }
    const fault = await faultOf(guarded.fetch(`${server.url}/other`));
    expect(fault.code).toBe('circuit_open');
    expect(fault.details.retryAfterMs).toBeGreaterThan(20_000);
  });

  test('are left alone for Retry-After', async () => {
    let requests = 0;
    const server = await serve((_request, response) => {
      requests += 1;
      response.writeHead(429, { 'retry-after': '30' }).end('x');
    });
    const guarded = guard([server]);
    expect(await guarded.fetch(server.url)).toMatchObject({ status: 429, retryAfterMs: 30_000 });
    const fault = await faultOf(guarded.fetch(server.url));
    expect(fault.code).toBe('throttled');
    expect(requests).toBe(1);
  });

  test('do not include those that return 404 or too much data', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/large') response.end(Buffer.alloc(200_000));
      else response.writeHead(404).end('x');
    });
    const guarded = guard([server], { breaker });
    for (let index = 0; index < 5; index += 1) {
      expect((await guarded.fetch(server.url)).status).toBe(404);
      expect((await faultOf(guarded.fetch(`${server.url}/large`))).code).toBe('response_too_large');
    }
  });
});

describe('Download', () => {
  test('streams to its sink', async () => {
    const server = await serve((_request, response) => {
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync('compiler'.repeat(1000)));
    });
    const { sink, text } = collect();
    const answer = await guard([server]).download(server.url, sink);
    expect(answer).toMatchObject({ status: 200, bytes: 8000 });
    expect(text()).toBe('compiler'.repeat(1000));
    expect(sink.writableFinished).toBe(true);
  });

  test('writes nothing of an unsuccessful response', async () => {
    const server = await serve((_request, response) => response.writeHead(404).end('not found'));
    const { sink, text } = collect();
    const answer = await guard([server]).download(server.url, sink);
    expect(answer).toMatchObject({ status: 404, bytes: 0 });
    expect(text()).toBe('');
    expect(sink.destroyed).toBe(false);
  });

  test('closes the connection when its sink fails, without pausing the host', async () => {
    let closed = 0;
    const server = await serve((_request, response) => {
      response.on('close', () => (closed += 1));
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync(Buffer.alloc(50_000)));
    });
    const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' });
    const guarded = guard([server], { breaker: { failures: 1, backoffMs: 60_000 } });
    for (let count = 1; count <= 2; count += 1) {
      const sink = new Writable({ write: (_chunk, _encoding, callback) => callback(full) });
      await expect(guarded.download(server.url, sink)).rejects.toBe(full);
      await vi.waitFor(() => expect(closed).toBe(count));
    }
  });

  test('fails with the error of its sink', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(50_000)));
    const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' });
    const sink = new Writable({ write: (_chunk, _encoding, callback) => callback(full) });
    await expect(guard([server]).download(server.url, sink)).rejects.toBe(full);
  });
});

describe('Error details', () => {
  test('contain scheme, host and port, never path, query, headers or body', async () => {
    const html = await serve((_request, response) => {
      response.writeHead(302, { location: 'https://canary:canary@127.0.0.1/canary' }).end('canary');
    });
    const closed = await serve((_request, response) => response.end());
    await closed.close();
    const guarded = guard([html, closed], { resolve: async () => ['10.0.0.1'] });
    for (const url of [
      `${html.url}/canary?canary=canary`,
      `${closed.url}/canary`,
      'https://a.example/canary?canary#canary',
      'http://10.0.0.1/canary',
      'canary',
    ]) {
      const fault = await faultOf(guarded.fetch(url, { headers: { authorization: 'canary' } }));
      const shown = JSON.stringify([
        fault.message,
        fault.details,
        fault.stack,
        fault.cause ?? null,
      ]);
      expect([url, shown.replaceAll(url, '').includes('canary')]).toEqual([url, false]);
    }
  });
});

const openssl = spawnSync('openssl', ['version']).status === 0;

const absence = openssl ? '' : ': openssl, which makes the certificate, is not installed here';

describe.skipIf(!openssl)(`TLS${absence}`, () => {
  test('verifies the certificate for the requested name and rejects a redirect to http', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fullmatch-tls-'));
    const file = (name: string): string => path.join(folder, name);
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', file('key.pem'), '-out', file('cert.pem'), '-days', '2'],
      ...['-subj', '/CN=node.example', '-addext', 'subjectAltName=DNS:node.example'],
    ]);
    expect(made.status).toBe(0);
    const cert = readFileSync(file('cert.pem'), 'utf8');
    const server = createTlsServer(
      { cert, key: readFileSync(file('key.pem')) },
      (request, response) => {
        if (request.url === '/down')
          response.writeHead(302, { location: 'http://a.example/' }).end();
        else response.end('secure');
      },
    );
    rmSync(folder, { recursive: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((done) => server.close(() => done())));
    const { port } = server.address() as AddressInfo;
    const options = {
      allowPrivate: [`node.example:${port}`, `other.example:${port}`],
      resolve: async () => ['127.0.0.1'],
    };
    const trusting = guard([], { ...options, certificateAuthorities: cert });
    const answer = await trusting.fetch(`https://node.example:${port}/`);
    expect(answer.body.toString()).toBe('secure');
    expect((await faultOf(trusting.fetch(`https://other.example:${port}/`))).details.reason).toBe(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect((await faultOf(trusting.fetch(`https://node.example:${port}/down`))).code).toBe(
      'scheme_not_allowed',
    );
    const wary = guard([], options);
    expect((await faultOf(wary.fetch(`https://node.example:${port}/`))).code).toBe(
      'connection_failed',
    );
  });
});
