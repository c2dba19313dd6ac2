import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici';
import { afterAll, afterEach, describe, expect, test } from 'vitest';

import { acceptorProcesses } from '../../test/support/acceptor-processes.ts';
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
import { FairShares } from '../lib/fair-shares.ts';
import { silentLogger } from '../log.ts';
import { Acceptor } from './acceptor/acceptor.ts';
import { describeProblem, answerProblem } from './error-response.ts';
import { type HostApp } from './host-app.ts';
import { listen, type Listener, type ListenerLimits, type ListenOptions } from './listener.ts';

// As the hosts of the service do.
const acceptor = new Acceptor(silentLogger);
afterAll(() => acceptor.close());

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
    ...{ host: '127.0.0.1', port: 0, acceptor, limits: { ...ROOMY_LIMITS, ...limits } },
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

/** An app of a handler of its own; every path is a route. */
function appOf(handle: (request: Request) => Response | Promise<Response>): HostApp {
  const app = new Hono();
  app.all('*', (c) => handle(c.req.raw));
  app.onError((error) => answerProblem(describeProblem(error, silentLogger)));
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

describe('a listener', () => {
  test('picks a free port for 0 and says where it is', async () => {
    const listener = await serveApi();
    expect(listener.port).toBeGreaterThan(0);
    expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
    expect((await undiciRequest(`${listener.url}/healthz`)).statusCode).toBe(200);
  });

  test('says which port is taken', async () => {
    const { port } = await serveApi();
    const app = createCheckedApiApp(await fixtureDependencies());
    const again = listen(app, { host: '127.0.0.1', port, limits: ROOMY_LIMITS }, silentLogger);
    await expect(again).rejects.toMatchObject({
      code: 'port_unavailable',
      details: { port, host: '127.0.0.1', reason: 'EADDRINUSE' },
    });
    await expect(again).rejects.toThrow(String(port));
  });

  test('says which host is none of this machine', async () => {
    const app = createCheckedApiApp(await fixtureDependencies());
    const options = { host: '192.0.2.1', port: 0, limits: ROOMY_LIMITS };
    await expect(listen(app, options, silentLogger)).rejects.toMatchObject({
      code: 'port_unavailable',
    });
  });

  test('tells of every finished answer its route, status and seconds', async () => {
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

describe('a document on the wire', () => {
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

  test('has no body for HEAD and 304, so the next answer on the connection is whole', async () => {
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

  test('is answered alike by the fast way and by the router', async () => {
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

  test('is readable for fetch from any origin, which checks CORS by itself', async () => {
    const { url } = await serveApi();
    const answer = await undiciFetch(`${url}/chains`, {
      headers: { origin: 'https://example.org' },
    });
    expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
    expect(Buffer.from(await answer.arrayBuffer()).equals(FIXTURE_CHAINS_BYTES)).toBe(true);
  });
});

describe('what is not a request', () => {
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
  ])('is a problem with CORS and a closed connection: %s', async (name, text, status, code) => {
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
    // A request with a Host that makes no URL is a whole request; its connection stays good.
    if (name !== 'a Host that is none') {
      expect(answer.headers['connection']).toBe('close');
      await client.end();
      expect(client.error).toBeUndefined();
    }
  });

  test.each([
    ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\n${host}\r\n`],
    ['no HTTP', 'what?\r\n\r\n'],
    ['a long header', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a large body', `POST /chains HTTP/1.1\r\n${host}Content-Length: 1000001\r\n\r\n`],
    ['an upgrade', `GET /chains HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
  ])('ends nothing but its connection where that is reset: %s', async (_, text) => {
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

  test('of HTTP/1.0 needs no Host', async () => {
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
  ])('is a request all the same: %s', async (_, text, status) => {
    const client = await connect(await serveApi());
    client.send(text);
    expect((await client.answer()).status).toBe(status);
  });

  test('after a request on the same connection does not mix into its answer', async () => {
    const client = await connect(await serveApi());
    client.send('GET /chains HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    client.send('GARBAGE\r\n\r\n');
    const [, second] = await client.answers(2);
    expect(second?.status).toBe(400);
  });

  test('does not take the answer from a client that goes on sending for a while', async () => {
    const client = await connect(await serveApi());
    client.send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}`);
    for (let index = 0; index < 20; index += 1) {
      client.send('x'.repeat(10_000));
      await untilNextTurn();
    }
    expect((await client.answer()).status).toBe(431);
    expect(client.error).toBeUndefined();
    await client.end();
  });
});

describe('a body over the limit', () => {
  const echo = appOf(async (received) => new Response(`${(await received.text()).length}`));

  test('is answered 413 to a client that sends all of it before it reads', async () => {
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

  test('of exactly the limit is read', async () => {
    const { url } = await serve(echo, { requestBytes: 1000 });
    const answer = await undiciRequest(url, { method: 'POST', body: Buffer.alloc(1000) });
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, '1000']);
  });
});

describe('a body that nobody reads', () => {
  const done = appOf(() => new Response('done', { headers: { 'content-length': '4' } }));
  const headOf = (length: number): string =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

  test('is taken after its answer, and its connection goes on', async () => {
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

  test('ends its connection where it does not come', async () => {
    const client = await connect(await serve(done));
    client.send(headOf(300_000));
    client.send('x'.repeat(200_000));
    expect((await client.answer()).body).toBe('done');
    await client.end();
    expect(client.error).toBeUndefined();
  });
});

describe('slow clients', () => {
  test('that send their header byte by byte are told and cut', async () => {
    const client = await connect(await serveApi({ headersTimeoutMs: 300 }));
    const drip = setInterval(() => client.send('X'), 50);
    client.send('GET /chains HTTP/1.1\r\nX-A: ');
    const answer = await client.answer();
    await client.end();
    clearInterval(drip);
    expect(answer.status).toBe(408);
    expect(problemIn(answer.body).code).toBe('request_timeout');
  });

  test('that send their body byte by byte are told and cut', async () => {
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

  test('that say nothing are cut without an answer', async () => {
    const client = await connect(await serveApi({ headersTimeoutMs: 200 }));
    await client.end();
    expect(client.heard).toBe('');
  });

  test('that wait too long with their next request are cut', async () => {
    const client = await connect(await serveApi({ keepAliveTimeoutMs: 200 }));
    client.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.answer();
    expect(await client.end()).toBeLessThan(3_000);
  });

  test('that do not read their answer are cut, and those that read it slowly are not', async () => {
    const large = Buffer.alloc(20_000_000, 'x');
    const seats = new FairShares({ total: 10, perClient: Infinity });
    const listener = await serve(
      appOf(() => new Response(large, { headers: { 'content-length': String(large.length) } })),
      { responseTimeoutMs: 2_000 },
      { seats },
    );
    const ask = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const deaf = await connect(listener);
    const slow = await connect(listener);
    deaf.socket.pause();
    deaf.send(ask);
    slow.send(ask);
    for (let pause = 0; pause < 5; pause += 1) {
      const heard = slow.heardBytes;
      slow.socket.resume();
      // A kernel with large buffers gives all of it in fewer steps.
      await waitUntil(() => slow.heardBytes > heard || slow.heardBytes > large.length);
      slow.socket.pause();
    }
    slow.socket.resume();
    await waitUntil(() => slow.heardBytes > large.length);
    slow.socket.destroy();
    await waitUntil(() => seats.total === 0);
    deaf.socket.resume();
    await deaf.end();
    expect(deaf.heardBytes).toBeLessThan(large.length);
  });

  test('that read a little of large answers again and again are cut', async () => {
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

  test('are not mistaken for handlers that take their time', async () => {
    const app = appOf(async () => {
      // Longer than an answer may take that is under way.
      const done = performance.now() + 900;
      await waitUntil(() => performance.now() > done);
      return new Response('done');
    });
    const { url } = await serve(app, { responseTimeoutMs: 200 });
    expect(await (await undiciRequest(url)).body.text()).toBe('done');
  });
});

describe('requests that one connection sends ahead', () => {
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const asks = (count: number): string =>
    Array.from({ length: count }, (_, index) => ask(`/${index}`)).join('');

  test('are answered in their order, one at a time, in whatever time each takes', async () => {
    let running = 0;
    let most = 0;
    const app = appOf(async ({ url }) => {
      running += 1;
      most = Math.max(most, running);
      for (let turns = (Number(url.at(-1)) * 7) % 5; turns > 0; turns -= 1) await untilNextTurn();
      running -= 1;
      const body = new URL(url).pathname;
      return new Response(body, { headers: { 'content-length': String(body.length) } });
    });
    const client = await connect(await serve(app));
    client.send(asks(40));
    client.send(asks(40));
    const answers = await client.answers(80);
    const paths = Array.from({ length: 40 }, (_, index) => `/${index}`);
    expect(answers.map(({ body }) => body)).toEqual([...paths, ...paths]);
    expect(most).toBe(1);
  });

  test('have bodies of their own, also such that come while they wait', async () => {
    const app = appOf(async (received) => {
      const body = await received.text();
      await untilNextTurn();
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

  test('have one answer made while their client takes none', async () => {
    const large = Buffer.alloc(20_000_000, 'x');
    let made = 0;
    const app = appOf(() => {
      made += 1;
      return new Response(large, { headers: { 'content-length': String(large.length) } });
    });
    const listener = await serve(app);
    const client = await connect(listener);
    client.socket.pause();
    client.send(asks(50));
    await waitUntil(() => made > 0);
    // Whoever asks later is answered meanwhile.
    await (await undiciRequest(listener.url)).body.arrayBuffer();
    expect(made).toBe(2);
    client.socket.destroy();
    await (await undiciRequest(listener.url)).body.arrayBuffer();
    expect(made).toBe(3);
  });

  test('are read as they are answered, a few at a time', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let read = 0;
    let bodyLimitOfOthers = (): unknown => undefined;
    const app: HostApp = {
      ...appOf(async () => {
        await held;
        return new Response('done', { headers: { 'content-length': '4' } });
      }),
      // Of a request that expects an answer before its body, the limit is read as soon as the request is.
      bodyLimitOf: (_method, path) => {
        if (path === '/other') bodyLimitOfOthers();
        else read += 1;
        return undefined;
      },
    };
    const listener = await serve(app);
    const client = await connect(listener);
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n';
    client.send(`${head}X-Padding: ${'p'.repeat(15_000)}\r\n\r\n`.repeat(90));
    await waitUntil(() => read > 0);
    // A request that comes later on another connection is read meanwhile.
    let readOfOthers = 0;
    bodyLimitOfOthers = () => (readOfOthers += 1);
    const other = await connect(listener);
    other.send(
      'POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n',
    );
    await waitUntil(() => readOfOthers > 0);
    expect(read).toBeLessThan(20);
    release();
    await waitUntil(() => client.heard.split('\r\n\r\ndone').length > 90);
  });

  test('are dropped with their connection, which is noticed while a few wait', async () => {
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

  test('become requests a few at a time, however many of them one reading brings', async () => {
    let made = 0;
    const listener = await serveApi();
    const count = (message: unknown): void => {
      const { server } = message as { server: Server };
      const at = server.address() as AddressInfo | null;
      if (at === null || at.port === listener.port) made += 1;
    };
    subscribe('http.server.request.start', count);
    const tiny = 'GET / HTTP/1.1\r\n\r\n'.repeat(3_600);
    const flood = await Promise.all(Array.from({ length: 20 }, () => connect(listener)));
    for (const client of flood) client.send(tiny);
    const other = await connect(listener);
    other.send(ask('/healthz'));
    expect((await other.answer()).status).toBe(200);
    await Promise.all(flood.map((client) => client.end()));
    unsubscribe('http.server.request.start', count);
    // Twenty times 3,600 came.
    expect(made).toBeLessThanOrEqual(20 * 5 + 1);
  });

  test('stay whole and in order, wherever readings end and with whatever bodies', async () => {
    const app = appOf(async (received) => {
      const body = `${new URL(received.url).pathname} ${await received.text()}`;
      return new Response(body, { headers: { 'content-length': String(body.length) } });
    });
    const client = await connect(await serve(app, { requestBytes: 1_000_000 }));
    const bodies = Array.from({ length: 90 }, (_, index) =>
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
    const answers = await client.answers(90);
    expect(answers.map(({ body }) => body)).toEqual(
      bodies.map((body, index) => `/${index} ${body}`),
    );
    // The connection goes on.
    client.send(ask('/last'));
    expect((await client.answers(91)).at(-1)?.body).toBe('/last ');
  });

  test('keep a bounded number of bytes on all connections, and others are answered', async () => {
    const app = appOf((received) =>
      received.url.endsWith('/done')
        ? new Response('done', { headers: { 'content-length': '4' } })
        : new Promise<Response>(() => undefined),
    );
    const listener = await serve(app);
    const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Padding: ${'p'.repeat(14_000)}\r\n\r\n`;
    const flood: RawClient[] = [];
    for (let index = 0; index < 900; index += 1) {
      const client = await RawClient.connect(listener.port, '127.0.0.2');
      clients.push(client);
      flood.push(client.send(large.repeat(4)));
    }
    const open = (): number => flood.filter(({ ended }) => !ended).length;
    await waitUntil(() => open() < 900);
    const other = await RawClient.connect(listener.port, '127.0.1.3');
    clients.push(other);
    // Of these some wait too.
    other.send(ask('/done').repeat(20));
    expect(await other.answers(20)).toHaveLength(20);
    // Three heads wait on each connection.
    await expect.poll(() => open() * 3 * 14_000).toBeLessThan(33_554_432);
    expect(open()).toBeGreaterThan(500);
  });

  test('cut their connection where they are very many', async () => {
    let made = 0;
    const app = appOf(() => {
      made += 1;
      return new Promise<Response>(() => undefined);
    });
    const client = await connect(await serve(app));
    client.send(asks(900));
    await client.end();
    expect(made).toBe(1);
  });
});

test('as many connections are open as may be, and the network with most of them gives way', async () => {
  const seats = new FairShares({ total: 10, perClient: Infinity });
  const listener = await serve(
    appOf(() => new Response('done', { headers: { 'content-length': '4' } })),
    {},
    { seats },
  );
  const from = (address: string): Promise<RawClient> =>
    RawClient.connect(listener.port, address).then((client) => {
      clients.push(client);
      return client;
    });
  const open = (all: readonly RawClient[]): number => all.filter(({ ended }) => !ended).length;
  const flood: RawClient[] = [];
  for (let index = 0; index < 15; index += 1) flood.push(await from('127.0.0.2'));
  await waitUntil(() => open(flood) === 10);
  const others = [await from('127.0.0.3'), await from('127.0.0.3'), await from('127.0.0.4')];
  for (const other of others) {
    other.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await other.answer()).status).toBe(200);
  }
  await waitUntil(() => open(flood) === 7);
  for (const client of flood) client.socket.destroy();
  await waitUntil(() => seats.total === others.length);
  const next: RawClient[] = [];
  for (let index = 0; index < 7; index += 1) next.push(await from('127.0.0.2'));
  await waitUntil(() => seats.total === 10);
  expect(open([...next, ...others])).toBe(10);
});

test('hosts share their seats, and of the network with most connections one that is idle gives way', async () => {
  const seats = new FairShares({ total: 4, perClient: Infinity });
  let held = 0;
  const never = appOf((received) => {
    if (!received.url.endsWith('/held')) {
      return new Response('done', { headers: { 'content-length': '4' } });
    }
    held += 1;
    return new Promise<Response>(() => undefined);
  });
  const [first, second] = [await serve(never, {}, { seats }), await serve(never, {}, { seats })];
  const from = async (listener: Listener, address: string, path: string): Promise<RawClient> => {
    const client = await RawClient.connect(listener.port, address);
    clients.push(client);
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    if (path !== '/held') expect((await client.answer()).status).toBe(200);
    return client;
  };
  const idle = await from(first, '127.0.0.2', '/');
  const busy: RawClient[] = [];
  for (let index = 0; index < 3; index += 1) busy.push(await from(second, '127.0.0.2', '/held'));
  await waitUntil(() => seats.total === 4 && held === 3);
  const newcomers = [await from(second, '127.0.0.3', '/')];
  expect([idle, ...busy].map(({ ended }) => ended)).toEqual([true, false, false, false]);
  // Where nothing is idle the newest gives way.
  newcomers.push(await from(first, '127.0.0.4', '/'));
  expect(busy.map(({ ended }) => ended)).toEqual([false, false, true]);
  expect(newcomers.map(({ ended }) => ended)).toEqual([false, false]);
});

describe('closing', () => {
  test('finishes what has begun, refuses new connections at once, and frees the port', async () => {
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

  test('answers a request that comes on a waiting connection, and says that it is the last', async () => {
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

  test('waits for a request whose first bytes have come', async () => {
    const listener = await serveApi();
    const client = await connect(listener);
    client.send('GET /chains HTTP/1.1\r\n');
    // They have come when what another client sent later is answered.
    const other = await connect(listener);
    other.send('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await other.answer();
    const closing = listener.close(5_000);
    await other.end();
    client.send('Host: x\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    await closing;
  });

  test('ends waiting connections properly and soon', async () => {
    const listener = await serveApi();
    const [used, fresh] = [await connect(listener), await connect(listener)];
    used.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await used.answer();
    // Its limit is longer than that of the test.
    await listener.close(600_000);
    for (const client of [used, fresh]) {
      await client.end();
      expect(client.error).toBeUndefined();
    }
  });

  test('cuts what is not done in time', async () => {
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

  test('does not wait for a process that never says that the port is closed', async () => {
    const others = await acceptorProcesses();
    const hung = new Acceptor(silentLogger);
    const listener = await serve(
      appOf(() => new Response('done')),
      {},
      { acceptor: hung },
    );
    for (const id of await acceptorProcesses()) {
      if (!others.includes(id)) process.kill(id, 'SIGSTOP');
    }
    await listener.close(300);
    await hung.close();
  });

  test('is one close, however often it is asked for', async () => {
    const listener = await serveApi();
    await Promise.all([listener.close(1_000), listener.close(1_000)]);
    await listener.close(1_000);
  });

  test('finishes a large answer that is still being taken', async () => {
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
