import { type IncomingMessage, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici';
import { afterEach, describe, expect, test, vi } from 'vitest';

import {
  createCheckedApiApp,
  createCheckedRepositoryApp,
} from '../../test/support/wire/checked-answers.ts';
import {
  FIXTURE_CHAINS_BYTES,
  FIXTURE_STATISTICS_BYTES,
  fixtureDependencies,
  ROOMY_LIMITS,
} from '../../test/support/http-fixture.ts';
import { Gate } from '../../test/support/gate.ts';
import { RawClient, waitUntil } from '../../test/support/raw-client.ts';
import { silentLogger } from '../log.ts';
import { toProblem, respondWithProblem } from './error-response.ts';
import { type HostApp } from './host-app.ts';
import { listen, type Listener, type ListenerLimits, type ListenOptions } from './listener.ts';

const opened: Listener[] = [];
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
});

async function serve(
  app: HostApp,
  limits: Partial<ListenerLimits> = {},
  options: Partial<ListenOptions> = {},
): Promise<Listener> {
  const all = {
    ...{ host: '127.0.0.1', port: 0, limits: { ...ROOMY_LIMITS, ...limits } },
    ...options,
  };
  const listener = await listen(app, all, silentLogger);
  opened.push(listener);
  return listener;
}

const serveApi = async (limits: Partial<ListenerLimits> = {}): Promise<Listener> =>
  serve(createCheckedApiApp(await fixtureDependencies()), limits);

async function connect(listener: Listener): Promise<RawClient> {
  const client = await RawClient.connect(listener.port);
  clients.push(client);
  return client;
}

/** Creates an app with the given handler; every path is a route. */
function appOf(handle: (request: Request) => Response | Promise<Response>): HostApp {
  const app = new Hono();
  app.all('*', (c) => handle(c.req.raw));
  app.onError((error) => respondWithProblem(toProblem(error, silentLogger)));
  return {
    fetch: (received, env) => app.fetch(received, env),
    request: (input, init) => app.request(input, init),
    routeOf: () => '/',
    writePrepared: () => false,
  };
}

interface ProblemBody {
  code: string;
  status: number;
}
const problemIn = (body: string): ProblemBody => JSON.parse(body) as ProblemBody;

describe('Listener', () => {
  test('picks a free port for 0 and reports it', async () => {
    const listener = await serveApi();
    expect(listener.port).toBeGreaterThan(0);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
    expect((await undiciRequest(`${listener.url}/healthz`)).statusCode).toBe(200);
  });

  test('names the port that is already in use', async () => {
    const { port } = await serveApi();
    const app = createCheckedApiApp(await fixtureDependencies());
    const again = listen(app, { host: '127.0.0.1', port, limits: ROOMY_LIMITS }, silentLogger);
    await expect(again).rejects.toMatchObject({
      code: 'port_unavailable',
      details: { port, host: '127.0.0.1', reason: 'EADDRINUSE' },
    });
    await expect(again).rejects.toThrow(String(port));
  });

  test('fails for a host that is not an address of this machine', async () => {
    const app = createCheckedApiApp(await fixtureDependencies());
    const options = { host: '192.0.2.1', port: 0, limits: ROOMY_LIMITS };
    await expect(listen(app, options, silentLogger)).rejects.toMatchObject({
      code: 'port_unavailable',
    });
  });

  test('reports route, status and duration of every finished response', async () => {
    const seen: [string | undefined, number][] = [];
    const app = createCheckedApiApp(await fixtureDependencies());
    const observe = (route: string | undefined, status: number, seconds: number): void => {
      expect(seconds).toBeGreaterThan(0);
      seen.push([route, status]);
    };
    const listener = await serve(app, {}, { observe });
    for (const path of ['/server/chains?x=1', '/chains/eth', '/chains/999', '/%2e%2e/x']) {
      const { body } = await undiciRequest(`${listener.url}${path}`);
      await body.dump();
    }
    await waitUntil(() => seen.length === 4);
    expect(seen).toEqual([
      ['/chains', 200],
      ['/chains/{ref}', 200],
      ['/chains/{ref}', 404],
      [undefined, 404],
    ]);
  });
});

describe('Published document over HTTP', () => {
  test.each([
    ['/chains', FIXTURE_CHAINS_BYTES],
    ['/server/chains', FIXTURE_CHAINS_BYTES],
    ['/chains/?q', FIXTURE_CHAINS_BYTES],
    ['/stats.json', FIXTURE_STATISTICS_BYTES],
  ])('%s has the same content in every coding', async (path, bytes) => {
    const deps = await fixtureDependencies();
    await waitUntil(() => deps.documents.current.chains?.bodies.br !== undefined);
    await waitUntil(() => deps.documents.current.statistics?.bodies.br !== undefined);
    const app =
      path === '/stats.json' ? createCheckedRepositoryApp(deps) : createCheckedApiApp(deps);
    const { url } = await serve(app);
    const etags = new Set<unknown>();
    for (const coding of [undefined, 'gzip', 'br'] as const) {
      const headers = coding === undefined ? {} : { 'accept-encoding': coding };
      const answer = await undiciRequest(url + path, { headers });
      const body = Buffer.from(await answer.body.arrayBuffer());
      expect(answer.headers['content-length']).toBe(String(body.byteLength));
      expect(answer.headers['content-encoding']).toBe(coding);
      expect(answer.headers['vary']).toBe('Accept-Encoding');
      expect(answer.headers['last-modified']).toBe('Tue, 03 Feb 2026 04:05:06 GMT');
      const decoded =
        coding === 'gzip' ? gunzipSync(body) : coding === 'br' ? brotliDecompressSync(body) : body;
      expect(decoded.equals(bytes)).toBe(true);
      etags.add(answer.headers.etag);
      for (const etag of etags) {
        const again = await undiciRequest(url + path, {
          headers: { ...headers, 'if-none-match': String(etag) },
        });
        expect(again.statusCode).toBe(304);
        expect(again.headers.etag).toBe(etag);
        expect(again.headers['access-control-allow-origin']).toBe('*');
        expect(again.headers['cache-control']).toBe(answer.headers['cache-control']);
        expect(await again.body.text()).toBe('');
      }
    }
    expect(etags.size).toBe(3);
  });

  test('has no body for HEAD and 304, so the next response on the connection is intact', async () => {
    const listener = await serveApi();
    const client = await connect(listener);
    const get = (method: string, path: string, header = ''): string =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`;
    client.send(get('HEAD', '/chains'));
    await waitUntil(() => client.heard.endsWith('\r\n\r\n'));
    expect(client.heard).toContain(`content-length: ${FIXTURE_CHAINS_BYTES.byteLength}\r\n`);
    const head = client.heard.length;
    client.send(
      get('HEAD', '/chains/1') +
        get('GET', '/chains', 'If-None-Match: *\r\n') +
        get('GET', '/healthz'),
    );
    await waitUntil(() => client.heard.endsWith('ok'));
    const statuses = client.heard.slice(head).match(/^HTTP\/1\.1 \d+/gm);
    expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 304', 'HTTP/1.1 200']);
  });

  test('is identical from the fast path and the router', async () => {
    const deps = await fixtureDependencies();
    await waitUntil(() => deps.documents.current.chains?.bodies.br !== undefined);
    const app = createCheckedApiApp(deps);
    const fast = await serve(app);
    const routed = await serve({ ...app, writePrepared: () => false });
    const requests: Record<string, string>[] = [
      {},
      { 'accept-encoding': 'gzip' },
      { 'accept-encoding': 'br;q=0.5, gzip;q=0.1' },
      { 'accept-encoding': 'identity;q=0' },
      { 'if-none-match': '*' },
      { 'if-modified-since': 'Tue, 03 Feb 2026 04:05:06 GMT' },
    ];
    for (const headers of requests) {
      for (const method of ['GET', 'HEAD'] as const) {
        const [a, b] = await Promise.all(
          [fast, routed].map(async ({ url }) => {
            const answer = await undiciRequest(`${url}/chains`, { method, headers });
            const headersOf = { ...answer.headers, date: undefined };
            return [
              answer.statusCode,
              headersOf,
              Buffer.from(await answer.body.arrayBuffer()).toString('hex'),
            ];
          }),
        );
        expect(a).toEqual(b);
      }
    }
  });

  test('is readable by fetch from any origin, with CORS checks', async () => {
    const { url } = await serveApi();
    const answer = await undiciFetch(`${url}/chains`, {
      headers: { origin: 'https://example.org' },
    });
    expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
    expect(Buffer.from(await answer.arrayBuffer()).equals(FIXTURE_CHAINS_BYTES)).toBe(true);
  });
});

describe('Malformed and unusual requests', () => {
  const host = 'Host: x\r\n';
  test.each([
    ['garbage', 'GARBAGE\r\n\r\n', 400, 'malformed_request'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'malformed_request'],
    [
      'a header without a colon',
      `GET / HTTP/1.1\r\n${host}broken\r\n\r\n`,
      400,
      'malformed_request',
    ],
    ['no Host', 'GET /chains HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    [
      'a Host that is none',
      'GET /health HTTP/1.1\r\nHost: a/b@c\r\n\r\n',
      400,
      'malformed_request',
    ],
    [
      'two lengths',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
      'malformed_request',
    ],
    [
      'a long header',
      `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'request_headers_too_large',
    ],
    [
      'a long URL',
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
      431,
      'request_headers_too_large',
    ],
    ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
    [
      'an unknown expectation',
      `GET /chains HTTP/1.1\r\n${host}Expect: miracles\r\n\r\n`,
      417,
      'expectation_failed',
    ],
    [
      'a large body',
      `POST /chains HTTP/1.1\r\n${host}Content-Length: 1000001\r\n\r\n`,
      413,
      'request_too_large',
    ],
    [
      'a large body that asks first',
      `POST /chains HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 1000001\r\n\r\n`,
      413,
      'request_too_large',
    ],
  ])(
    'return a problem with CORS headers and close the connection: %s',
    async (name, text, status, code) => {
      const listener = await serveApi();
      const client = await connect(listener);
      client.send(Buffer.from(text, 'latin1'));
      const answer = await client.answer();
      expect(answer.status).toBe(status);
      expect(problemIn(answer.body)).toMatchObject({ code, status });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'access-control-allow-origin': '*',
      });
      // A request with an invalid Host is complete, so its connection stays usable.
      if (name !== 'a Host that is none') {
        expect(answer.headers['connection']).toBe('close');
        await client.end();
        expect(client.error).toBeUndefined();
      }
    },
  );

  test.each([
    ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\n${host}\r\n`],
    ['no HTTP', 'what?\r\n\r\n'],
    ['a long header', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a large body', `POST /chains HTTP/1.1\r\n${host}Content-Length: 1000001\r\n\r\n`],
    ['an upgrade', `GET /chains HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  ])('affect only their own connection when it is reset: %s', async (_, text) => {
    const listener = await serveApi();
    for (let turns = 0; turns < 12; turns += 1) {
      const client = await connect(listener);
      client.send(text);
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      client.socket.resetAndDestroy();
    }
    const client = await connect(listener);
    client.send(`GET /healthz HTTP/1.1\r\n${host}\r\n`);
    expect((await client.answer()).status).toBe(200);
  });

  test('of HTTP/1.0 need no Host header', async () => {
    for (const path of ['/chains', '/healthz']) {
      const client = await connect(await serveApi());
      client.send(`GET ${path} HTTP/1.0\r\n\r\n`);
      expect((await client.answer()).status).toBe(200);
      await client.end();
    }
  });

  test.each([
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 204],
    ['an absolute URL', 'GET http://other.example/chains HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    [
      'an offered upgrade',
      'GET /chains HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
      200,
    ],
    ['TRACE', 'TRACE /chains HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['an unknown method of Node’s list', 'PROPFIND /chains HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ])('are handled as valid: %s', async (_, text, status) => {
    const client = await connect(await serveApi());
    client.send(text);
    expect((await client.answer()).status).toBe(status);
  });

  test('do not corrupt the response to an earlier request on the connection', async () => {
    const client = await connect(await serveApi());
    client.send('GET /chains HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    client.send('GARBAGE\r\n\r\n');
    const [, second] = await client.answers(2);
    expect(second?.status).toBe(400);
  });

  test('still deliver the response to a client that keeps sending for a while', async () => {
    const client = await connect(await serveApi());
    client.send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}`);
    for (let index = 0; index < 20; index += 1) {
      client.send('x'.repeat(10_000));
      await nextTurn();
    }
    expect((await client.answer()).status).toBe(431);
    expect(client.error).toBeUndefined();
    await client.end();
  });
});

describe('Body over the limit', () => {
  const echo = appOf(async (received) => new Response(`${(await received.text()).length}`));

  test('returns 413 to a client that sends everything before reading', async () => {
    const { url } = await serveApi({ requestBytes: 1000 });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${url}/chains`,
        { method: 'POST', headers: { 'content-length': 400_000 } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      sent.on('error', reject);
      sent.end(Buffer.alloc(400_000));
    });
    expect(status).toBe(413);
  });

  test('accepts a body of exactly the limit', async () => {
    const { url } = await serve(echo, { requestBytes: 1000 });
    const answer = await undiciRequest(url, { method: 'POST', body: Buffer.alloc(1000) });
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, '1000']);
  });
});

describe('Unread body', () => {
  test.each([
    ['never read', false],
    ['paused', true],
  ])('takes a small part of each turn of the event loop if it is %s', async (_, isPaused) => {
    let received: IncomingMessage | undefined;
    const app = appOf(
      () => new Response('no', { status: 429, headers: { 'content-length': '2' } }),
    );
    const fetch: HostApp['fetch'] = (asked, env) => {
      received = (env as { incoming: IncomingMessage }).incoming;
      if (isPaused) received.pause();
      return app.fetch(asked, env);
    };
    const client = await connect(await serve({ ...app, fetch }, { requestBytes: 4_000_000 }));
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n');
    expect((await client.answer()).status).toBe(429);
    client.send(Buffer.alloc(4_000_000));
    const parts: number[] = [];
    const bytesRead = (): number => received?.socket.bytesRead ?? 0;
    for (let before = bytesRead(); received?.destroyed === false;) {
      await nextTurn();
      parts.push(bytesRead() - before);
      before = bytesRead();
    }
    expect(received?.complete).toBe(true);
    // One read of Node that is dropped, and one that is buffered.
    expect(Math.max(...parts)).toBeLessThanOrEqual(2 * 65_536);
  });

  const done = appOf(() => new Response('done', { headers: { 'content-length': '4' } }));
  const headOf = (length: number): string =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

  test('is drained after the response, and the connection stays usable', async () => {
    const clients = await Promise.all(
      Array.from({ length: 5 }, async () => connect(await serve(done))),
    );
    for (const client of clients) {
      client.send(headOf(300_000));
      client.send('x'.repeat(200_000));
      expect((await client.answer()).body).toBe('done');
      client.send('x'.repeat(100_000));
      client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    }
    for (const client of clients) expect((await client.answers(2))[1]?.body).toBe('done');
  });

  test('closes its connection if it never arrives', async () => {
    const client = await connect(await serve(done));
    client.send(headOf(300_000));
    client.send('x'.repeat(200_000));
    expect((await client.answer()).body).toBe('done');
    await client.end();
    expect(client.error).toBeUndefined();
  });
});

test('garbage is not answered in place of the pending request before it', async () => {
  const [asked, held] = [new Gate(), new Gate()];
  const app = appOf(async () => {
    asked.open();
    await held.opened;
    return new Response('done');
  });
  const client = await connect(await serve(app));
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await asked.opened;
  client.send('GARBAGE\r\n\r\n');
  await client.end();
  held.open();
  expect(client.heard).toBe('');
});

describe('Slow clients', () => {
  test('that send their header byte by byte get 408 and are disconnected', async () => {
    const client = await connect(await serveApi({ headersTimeoutMs: 300 }));
    const drip = setInterval(() => client.send('X'), 50);
    client.send('GET /chains HTTP/1.1\r\nX-A: ');
    const answer = await client.answer();
    await client.end();
    clearInterval(drip);
    expect(answer.status).toBe(408);
    expect(problemIn(answer.body).code).toBe('request_timeout');
  });

  test('that send their body byte by byte get 408 and are disconnected', async () => {
    const app = appOf(async (received) => new Response(await received.text()));
    const client = await connect(
      await serve(app, { headersTimeoutMs: 200, requestTimeoutMs: 400 }),
    );
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
    const drip = setInterval(() => client.send('X'), 50);
    const answer = await client.answer();
    await client.end();
    clearInterval(drip);
    expect(answer.status).toBe(408);
  });

  test('that send nothing are disconnected without a response', async () => {
    const client = await connect(await serveApi({ headersTimeoutMs: 200 }));
    await client.end();
    expect(client.heard).toBe('');
  });

  test('that exceed the keep-alive timeout are disconnected', async () => {
    const client = await connect(await serveApi({ keepAliveTimeoutMs: 200 }));
    client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.answer();
    expect(await client.end()).toBeLessThan(3_000);
  });

  test('that do not read their response are disconnected', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    const isCut = new Gate();
    // Never ends, so it exceeds any buffer of the kernel.
    const endless = (): ReadableStream<Uint8Array> =>
      new ReadableStream({ pull: (stream) => stream.enqueue(part), cancel: () => isCut.open() });
    const listener = await serve(
      appOf(() => new Response(endless())),
      { responseTimeoutMs: 400 },
    );
    const deaf = await connect(listener);
    deaf.socket.pause();
    deaf.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await isCut.opened;
  });

  /** A body that exceeds the buffers of most kernels. */
  const large = Buffer.alloc(50_000_000, 'x');
  const largeApp = appOf(
    () => new Response(large, { headers: { 'content-length': String(large.length) } }),
  );

  test('that read one large response in many small parts stay connected', async () => {
    const listener = await serve(largeApp, { responseTimeoutMs: 2_000 });
    const slow = await connect(listener);
    let isSlow = true;
    slow.socket.on('data', () => isSlow && slow.socket.pause());
    slow.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    // A kernel with large buffers may accept the whole response at once.
    const isWhole = (): boolean => slow.heardBytes > large.length;
    const longerThanTheLimit = performance.now() + 3_000;
    while (performance.now() < longerThanTheLimit && !isWhole()) {
      const heard = slow.heardBytes;
      slow.socket.resume();
      await waitUntil(() => slow.heardBytes > heard || isWhole() || slow.ended);
    }
    isSlow = false;
    slow.socket.resume();
    await waitUntil(() => isWhole() || slow.ended);
    expect(slow.heardBytes).toBeGreaterThan(large.length);
  });

  test('that read again are not disconnected because the service stalled', async () => {
    const listener = await serve(largeApp, { responseTimeoutMs: 600 });
    const client = await connect(listener);
    client.socket.once('data', () => client.socket.pause());
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitUntil(() => client.heardBytes > 0);
    const nearTheLimit = performance.now() + 500;
    await waitUntil(() => performance.now() > nearTheLimit);
    client.socket.resume();
    // Blocks this thread: timers of the server run before it notices that the client reads.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await waitUntil(() => client.heardBytes > large.length || client.ended);
    expect(client.heardBytes).toBeGreaterThan(large.length);
  });

  test('that keep reading too slowly are disconnected', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    const app = appOf(
      () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(part) })),
    );
    const listener = await serve(app, { responseTimeoutMs: 600, responseMinBytesPerMs: 1_000_000 });
    const client = await connect(listener);
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let isReading = false;
    const drip = setInterval(() => {
      isReading = !isReading;
      if (isReading) client.socket.resume();
      else client.socket.pause();
    }, 50);
    await waitUntil(() => client.ended).finally(() => clearInterval(drip));
    expect(client.heardBytes).toBeGreaterThan(0);
  });

  test('are not confused with slow handlers', async () => {
    const app = appOf(async () => {
      // Longer than the response timeout.
      const done = performance.now() + 900;
      await waitUntil(() => performance.now() > done);
      return new Response('done');
    });
    const { url } = await serve(app, { responseTimeoutMs: 200 });
    expect(await (await undiciRequest(url)).body.text()).toBe('done');
  });
});

describe('Pipelined requests', () => {
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const asks = (count: number): string =>
    Array.from({ length: count }, (_, index) => ask(`/${index}`)).join('');

  test('are answered in order, however long each takes', async () => {
    const app = appOf(async ({ url }) => {
      for (let turns = (Number(url.at(-1)) * 7) % 5; turns > 0; turns -= 1) await nextTurn();
      const body = new URL(url).pathname;
      return new Response(body, { headers: { 'content-length': String(body.length) } });
    });
    const client = await connect(await serve(app));
    client.send(asks(20));
    const answers = await client.answers(20);
    expect(answers.map(({ body }) => body)).toEqual(
      Array.from({ length: 20 }, (_, index) => `/${index}`),
    );
  });

  test('keep their own bodies, including bodies that arrive while they wait', async () => {
    const app = appOf(async (received) => {
      const body = await received.text();
      await nextTurn();
      return new Response(body, { headers: { 'content-length': String(body.length) } });
    });
    const client = await connect(await serve(app));
    const large = 'y'.repeat(300_000);
    const post = (body: string): string =>
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    client.send(post('a') + post('') + post(large) + post('b'));
    const answers = await client.answers(4);
    expect(answers.map(({ body }) => body)).toEqual(['a', '', large, 'b']);
  });

  test('are aborted when their connection closes', async () => {
    let isGone = false;
    const asked = new Gate();
    const app = appOf((received) => {
      received.signal.addEventListener('abort', () => (isGone = true));
      asked.open();
      return new Promise<Response>(() => undefined);
    });
    const client = await connect(await serve(app));
    client.send(asks(4));
    await asked.opened;
    client.socket.destroy();
    await waitUntil(() => isGone);
  });

  test('stay intact and in order for any packet boundaries and bodies', async () => {
    const app = appOf(async (received) => {
      const body = `${new URL(received.url).pathname} ${await received.text()}`;
      return new Response(body, { headers: { 'content-length': String(body.length) } });
    });
    const client = await connect(await serve(app, { requestBytes: 1_000_000 }));
    const bodies = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 0 ? '' : `GET /x HTTP/1.1\r\n\r\n${'b'.repeat((index * 7_919) % 30_000)}`,
    );
    const message = (body: string, index: number): string => {
      const head = `POST /${index} HTTP/1.1\r\nHost: x\r\n`;
      if (body === '') return ask(`/${index}`);
      if (index % 3 === 1) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
      const chunks = [body.slice(0, 20), body.slice(20)].filter((chunk) => chunk !== '');
      const coded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      return `${head}Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
    };
    const all = bodies.map(message).join('');
    for (let [at, piece] = [0, 1]; at < all.length; at += piece) {
      piece = (piece * 31 + 7) % 50_021;
      client.send(all.slice(at, at + piece));
      if (piece % 2 === 0) await nextTurn();
    }
    const answers = await client.answers(20);
    expect(answers.map(({ body }) => body)).toEqual(
      bodies.map((body, index) => `/${index} ${body}`),
    );
    // The connection stays usable.
    client.send(ask('/last'));
    expect((await client.answers(21)).at(-1)?.body).toBe('/last ');
  });

  test('over the limit close their connection', async () => {
    let made = 0;
    const app = appOf(() => {
      made += 1;
      return new Promise<Response>(() => undefined);
    });
    const client = await connect(await serve(app));
    client.send(asks(900));
    await client.end();
    expect(made).toBe(20);
  });
});

describe('Closing the listener', () => {
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const done = (): Response => new Response('done', { headers: { 'content-length': '4' } });

  test('answers all pipelined requests, the last with Connection: close', async () => {
    const asked = new Gate();
    const held = new Gate();
    const app = appOf(async ({ url }) => {
      if (url.endsWith('/2')) asked.open();
      await held.opened;
      return done();
    });
    const listener = await serve(app);
    const client = await connect(listener);
    client.send([0, 1, 2].map((index) => ask(`/${index}`)).join(''));
    await asked.opened;
    const closing = listener.close(600_000);
    held.open();
    const answers = await client.answers(3);
    expect(answers.map(({ headers }) => headers['connection'])).toEqual([
      ...['keep-alive', 'keep-alive', 'close'],
    ]);
    await closing;
    expect(client.error).toBeUndefined();
  });

  test('does not wait for a client whose unread body was drained', async () => {
    const listener = await serve(appOf(done), { stopTimeoutMs: 500_000 });
    const client = await connect(listener);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    expect((await client.answer()).body).toBe('done');
    client.send('x'.repeat(100_000));
    client.send(ask('/'));
    expect(await client.answers(2)).toHaveLength(2);
    // The client must be disconnected as idle: all other limits exceed the duration of this test.
    await listener.close(600_000);
    await client.end();
    expect(client.error).toBeUndefined();
  });

  test('does not wait for a client whose unread body arrived after its response', async () => {
    const listener = await serve(appOf(done), { stopTimeoutMs: 500_000 });
    const client = await connect(listener);
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    expect((await client.answer()).body).toBe('done');
    client.send('x'.repeat(100_000));
    await listener.close(600_000);
    await client.end();
    expect(client.error).toBeUndefined();
  });

  test('keeps an idle connection briefly and answers a request that arrives meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const listener = await serve(appOf(done));
      const client = await connect(listener);
      client.send(ask('/first'));
      await client.answer();
      const closing = listener.close(600_000);
      vi.advanceTimersByTime(90);
      client.send(ask('/second'));
      expect((await client.answers(2))[1]?.headers['connection']).toBe('close');
      await closing;
      expect(client.error).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  test('closes a connection that stays idle', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const listener = await serve(appOf(done));
      const client = await connect(listener);
      client.send(ask('/first'));
      await client.answer();
      const closing = listener.close(600_000);
      vi.advanceTimersByTime(110);
      await closing;
      await client.end();
      expect(client.error).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });

  test('finishes pending requests, refuses new connections at once and frees the port', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const asked = new Gate();
    const app = appOf(async () => {
      asked.open();
      await held;
      return new Response('finished');
    });
    const listener = await serve(app);
    const pending = undiciRequest(listener.url);
    await asked.opened;
    const closing = listener.close(5_000);
    const codeOfConnecting = async (): Promise<unknown> => {
      try {
        await (await RawClient.connect(listener.port)).end();
        return undefined;
      } catch (error) {
        return (error as { code?: string }).code;
      }
    };
    await expect.poll(codeOfConnecting).toBe('ECONNREFUSED');
    release();
    const answer = await pending;
    expect(answer.headers['connection']).toBe('close');
    expect(await answer.body.text()).toBe('finished');
    await closing;
    await serve(app, {}, { port: listener.port });
  });

  test('answers a request on an idle connection with Connection: close', async () => {
    const listener = await serveApi();
    const client = await connect(listener);
    const ask = 'GET /chains HTTP/1.1\r\nHost: x\r\n\r\n';
    client.send(ask);
    expect((await client.answer()).headers['connection']).toBe('keep-alive');
    const closing = listener.close(5_000);
    client.send(ask);
    const [, last] = await client.answers(2);
    expect(last).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await client.end();
    await closing;
    expect(client.error).toBeUndefined();
  });

  test('waits for a request whose first bytes have arrived', async () => {
    const listener = await serveApi();
    const client = await connect(listener);
    client.send('GET /chains HTTP/1.1\r\n');
    // The bytes have arrived once a later request of another client is answered.
    const other = await connect(listener);
    other.send('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await other.answer();
    const closing = listener.close(5_000);
    await other.end();
    client.send('Host: x\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    await closing;
  });

  test('closes idle connections cleanly and promptly', async () => {
    const listener = await serveApi();
    // The first connection has been accepted once the second gets its response.
    const [fresh, used] = [await connect(listener), await connect(listener)];
    used.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await used.answer();
    // The limit is longer than the test.
    await listener.close(600_000);
    for (const client of [used, fresh]) {
      await client.end();
      expect(client.error).toBeUndefined();
    }
  });

  test('closes 100 idle connections, each cleanly', async () => {
    const listener = await serveApi();
    const many: RawClient[] = [];
    for (let index = 0; index < 100; index += 1) many.push(await connect(listener));
    // The earlier connections have been accepted once these get their responses.
    const used = many.slice(50);
    for (const client of used) client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    for (const client of used) await client.answer();
    await listener.close(600_000);
    for (const client of many) {
      await client.end();
      expect(client.error).toBeUndefined();
    }
  });

  test('disconnects a client that reads nothing, however long others may take', async () => {
    const part = Buffer.alloc(1_000_000, 'x');
    const begun = new Gate();
    const app = appOf(() => {
      begun.open();
      return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(part) }));
    });
    const listener = await serve(app, { stopTimeoutMs: 200 });
    const deaf = await connect(listener);
    deaf.socket.pause();
    deaf.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun.opened;
    await listener.close(600_000);
    deaf.socket.resume();
    await deaf.end();
  });

  test('disconnects a client with a stalled request, however long others may take', async () => {
    const listener = await serve(
      appOf(() => new Response('done')),
      { stopTimeoutMs: 200 },
    );
    const client = await connect(listener);
    client.send('GET / HTTP/1.1\r\nHost');
    // The bytes have arrived once a later request of another client is answered.
    const other = await connect(listener);
    other.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await other.end();
    await listener.close(600_000);
    await client.end();
  });

  test('disconnects requests that exceed the deadline', async () => {
    const asked = new Gate();
    const app = appOf(() => {
      asked.open();
      return new Promise<Response>(() => undefined);
    });
    const listener = await serve(app);
    const client = await connect(listener);
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked.opened;
    await listener.close(300);
    await client.end();
  });

  test('is idempotent', async () => {
    const listener = await serveApi();
    await Promise.all([listener.close(1_000), listener.close(1_000)]);
    await listener.close(1_000);
  });

  test('finishes a large response that is still being read', async () => {
    const large = Buffer.alloc(20_000_000, 'x');
    const listener = await serve(
      appOf(() => new Response(large, { headers: { 'content-length': String(large.length) } })),
    );
    const agent = new Agent();
    const answer = await undiciRequest(listener.url, { dispatcher: agent });
    const closing = listener.close(8_000);
    expect((await answer.body.arrayBuffer()).byteLength).toBe(large.length);
    await closing;
    await agent.close();
  });
});
