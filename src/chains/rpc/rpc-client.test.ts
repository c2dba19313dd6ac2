import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type RpcMethod,
  type RpcServer,
  RpcServerError,
  sampleEndpoint,
  startRpcServer,
} from '../../../test/support/rpc-server.ts';
import { startSocketServer, type WebServer } from '../../../test/support/web-server.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { Secret } from '../../lib/secret.ts';
import { type Endpoint } from '../registry/registered-chain.ts';
import { type RpcChain, findOperatorHosts } from './rpc-chain.ts';
import { type EndpointPreference } from './endpoint-order.ts';
import {
  createRpcClient,
  type EndpointProber,
  type RpcClient,
  type RpcClientOptions,
} from './rpc-client.ts';
import { blockHead, data, quantity } from './rpc-shapes.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

const chainId = (id: string): Record<string, RpcMethod> => ({ eth_chainId: () => id });
const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [], result: quantity };

async function serve(methods: Record<string, RpcMethod>): Promise<RpcServer> {
  const server = await startRpcServer({ ...chainId('0x1'), ...methods });
  closers.push(server.close);
  return server;
}

function chainOf(...endpoints: readonly Endpoint[]): RpcChain {
  return { record: { chainId: 1 }, endpoints, local: false };
}

function client(
  servers: readonly WebServer[],
  options: Partial<RpcClientOptions> = {},
  deadlineMs = 5000,
): RpcClient & EndpointProber {
  const guarded = createGuardedFetch({
    allowPrivate: servers.map(({ hostPort }) => hostPort),
    maxBytes: 1_000_000,
    deadlineMs,
    maxRedirects: 3,
    userAgent: 'fullmatch-test',
    breaker: { failures: 100, backoffMs: 20 },
  });
  closers.push(() => guarded.close());
  return createRpcClient({ fetch: guarded, backoffMs: 5, deadlineMs, ...options });
}

async function ask(server: RpcServer, options: Partial<RpcClientOptions> = {}): Promise<unknown> {
  const endpoint = sampleEndpoint(server.url, 'sample');
  return client([server], options).ask(chainOf(endpoint), endpoint, BLOCK_NUMBER);
}

describe('RPC endpoint', () => {
  test('is asked for its chain id first, then trusted', async () => {
    const server = await serve({ eth_blockNumber: () => '0x10' });
    const rpc = client([server]);
    const endpoint = sampleEndpoint(server.url);
    for (let index = 0; index < 3; index += 1) {
      expect(await rpc.ask(chainOf(endpoint), endpoint, BLOCK_NUMBER)).toBe(16);
    }
    expect(server.calls).toEqual(['eth_chainId', ...Array<string>(3).fill('eth_blockNumber')]);
  });

  test('of another chain gets no further request', async () => {
    const server = await serve({ ...chainId('0x5'), eth_blockNumber: () => '0x10' });
    await expect(ask(server)).rejects.toMatchObject({
      code: 'wrong_chain',
      details: { chainId: 1, answeredChainId: 5, endpoint: 'sample' },
    });
    expect(server.calls).toEqual(['eth_chainId']);
  });

  test('has its chain id checked again after a disconnect and after a while', async () => {
    const server = await serve({ eth_blockNumber: () => '0x10' });
    const clock = { now: 0 };
    const rpc = client([server], { now: () => clock.now, trustMs: 1000, attempts: 1 });
    const endpoint = sampleEndpoint(server.url);
    const chain = chainOf(endpoint);
    await rpc.ask(chain, endpoint, BLOCK_NUMBER);
    clock.now = 1001;
    await rpc.ask(chain, endpoint, BLOCK_NUMBER);
    expect(server.calls.filter((method) => method === 'eth_chainId')).toHaveLength(2);
    server.methods.eth_blockNumber = (_params, response) => void response.destroy();
    await expect(rpc.ask(chain, endpoint, BLOCK_NUMBER)).rejects.toMatchObject({
      details: { reason: 'connection_failed' },
    });
    server.methods.eth_chainId = () => '0x2';
    await expect(rpc.ask(chain, endpoint, BLOCK_NUMBER)).rejects.toMatchObject({
      code: 'wrong_chain',
    });
  });

  test('receives the credentials of its URL as a header', async () => {
    const seen: unknown[] = [];
    const server = await serve({
      eth_blockNumber(_params, response) {
        seen.push(response.req.headers.authorization, response.req.url);
        return '0x1';
      },
    });
    const endpoint = sampleEndpoint(`http://na%40me:pass@${server.hostPort}/v3/key`);
    await client([server]).ask(chainOf(endpoint), endpoint, BLOCK_NUMBER);
    expect(seen).toEqual([`Basic ${Buffer.from('na@me:pass').toString('base64')}`, '/v3/key']);
  });
});

describe('Transient failure', () => {
  test.each([
    ['status 500', (response) => response.writeHead(500).end('x')],
    ['status 503 without a time', (response) => response.writeHead(503).end('<html>')],
    ['status 429 without a time', (response) => response.writeHead(429).end('slow down')],
    ['a connection that breaks', (response) => response.destroy()],
    [
      'an answer that is cut',
      (response) => {
        response.writeHead(200, { 'content-length': '99' }).write('{"js');
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ] as [string, (response: Parameters<RpcMethod>[1]) => unknown][])(
    'is retried: %s',
    async (_what, fail) => {
      let times = 0;
      const server = await serve({
        eth_blockNumber(_params, response) {
          times += 1;
          if (times === 3) return '0x10';
          fail(response);
          return undefined;
        },
      });
      expect(await ask(server)).toBe(16);
      expect(times).toBe(3);
    },
  );

  test('waits for a short Retry-After', async () => {
    let times = 0;
    const server = await serve({
      eth_blockNumber(_params, response) {
        times += 1;
        if (times > 1) return '0x10';
        return void response.writeHead(429, { 'retry-after': '1' }).end();
      },
    });
    const started = performance.now();
    expect(await ask(server)).toBe(16);
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  test('is not retried if Retry-After is long', async () => {
    const server = await serve({
      eth_blockNumber: (_params, response) =>
        void response.writeHead(429, { 'retry-after': '60' }).end(),
    });
    await expect(ask(server)).rejects.toMatchObject({
      code: 'rpc_unreachable',
      details: { reason: 'throttled', retryAfterMs: 60_000 },
    });
    expect(server.calls).toHaveLength(2);
  });

  test('fails after the last attempt', async () => {
    const server = await serve({
      eth_blockNumber: (_params, response) => void response.writeHead(502).end(),
    });
    await expect(ask(server)).rejects.toMatchObject({ details: { reason: 'status_502' } });
    expect(server.calls).toHaveLength(4);
  });
});

describe('Invalid response', () => {
  const write =
    (status: number, body: string | Buffer, headers: Record<string, string> = {}): RpcMethod =>
    (_params, response) =>
      void response.writeHead(status, headers).end(body);

  test.each([
    ['HTML', write(200, '<!doctype html><title>Just a moment...</title>'), 'rpc_invalid_answer'],
    ['truncated JSON', write(200, '{"jsonrpc":"2.0","id":2,"resu'), 'rpc_invalid_answer'],
    ['nothing', write(200, ''), 'rpc_invalid_answer'],
    ['another id', write(200, '{"jsonrpc":"2.0","id":99,"result":"0x1"}'), 'rpc_invalid_answer'],
    ['a number for hex', () => 16, 'rpc_invalid_answer'],
    ['decimal digits', () => '16', 'rpc_invalid_answer'],
    ['more than can be counted', () => '0x20000000000000', 'rpc_invalid_answer'],
    ['null', () => null, 'rpc_invalid_answer'],
    ['an object', () => ({ toString: '0x1' }), 'rpc_invalid_answer'],
    ['more than is allowed', () => `0x${'0'.repeat(2_000_000)}`, 'rpc_invalid_answer'],
    [
      'a bomb',
      write(200, gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' }),
      'rpc_invalid_answer',
    ],
    ['status 401', write(401, 'key?'), 'rpc_unreachable'],
    ['status 404', write(404, '<html>'), 'rpc_unreachable'],
    [
      'a redirect to the inside',
      write(307, '', { location: 'http://169.254.169.254/' }),
      'rpc_unreachable',
    ],
  ])('%s', async (_what, method, code) => {
    const server = await serve({ eth_blockNumber: method });
    await expect(ask(server)).rejects.toMatchObject({ code });
    // Neither retried nor trusted.
    expect(server.calls).toHaveLength(2);
  });

  test('an error object counts as a refusal with any HTTP status', async () => {
    for (const status of [200, 400, 500]) {
      const server = await serve({
        eth_blockNumber(_params, response, id) {
          const error = { code: -32_601, message: 'secret canary' };
          response.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        },
      });
      const error: unknown = await ask(server).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'rpc_refused', details: { errorCode: -32_601 } });
      expect(JSON.stringify([error, String(error)])).not.toContain('canary');
    }
  });

  test('an error object about limits counts as throttling', async () => {
    const server = await serve({
      eth_blockNumber() {
        throw new RpcServerError(-32_005, 'limit exceeded');
      },
    });
    await expect(ask(server)).rejects.toMatchObject({ details: { reason: 'throttled' } });
  });

  test('a dripping endpoint is cut off at the timeout', async () => {
    const server = await startSocketServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{');
      const timer = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(timer));
    });
    closers.push(server.close);
    const endpoint = sampleEndpoint(server.url);
    // Nothing else ends the response, which drips for hours.
    await expect(
      client([server], {}, 400).ask(chainOf(endpoint), endpoint, BLOCK_NUMBER),
    ).rejects.toMatchObject({ details: { reason: 'deadline_exceeded' } });
  });
});

describe('Endpoints of a chain', () => {
  test('are tried in order until one responds', async () => {
    const dead = await serve({});
    await dead.close();
    const wrong = await serve(chainId('0x2'));
    const good = await serve({ eth_blockNumber: () => '0x10' });
    const unasked = await serve({ eth_blockNumber: () => '0x11' });
    const servers = [dead, wrong, good, unasked];
    const chain = chainOf(
      sampleEndpoint('ftp://files.example/', 'files'),
      ...servers.map(({ url }, index) => sampleEndpoint(url, `e${index}`)),
    );
    const answer = await client(servers).askAny(chain, BLOCK_NUMBER);
    expect(answer).toEqual({ value: 16, endpoint: 'e2' });
    expect(unasked.calls).toEqual([]);
  });

  test('are all listed by label if none responds', async () => {
    const wrong = await serve(chainId('0x2'));
    const chain = chainOf(
      sampleEndpoint(`${wrong.url}/canary`, 'private-1'),
      sampleEndpoint('http://10.1.2.3:8545/canary', 'inside'),
    );
    const error: unknown = await client([wrong])
      .askAny(chain, BLOCK_NUMBER)
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'rpc_unreachable',
      details: {
        endpoints: [
          { endpoint: 'private-1', reason: 'wrong_chain' },
          { endpoint: 'inside', reason: 'address_not_allowed' },
        ],
      },
    });
    const shown = JSON.stringify([error, String(error), (error as Error).stack]);
    expect(shown).not.toMatch(/canary|10\.1\.2\.3/);
  });

  test('are abandoned when the caller aborts', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const server = await serve({ eth_blockNumber: () => controller.abort(reason) });
    const endpoint = sampleEndpoint(server.url);
    await expect(
      client([server]).askAny(chainOf(endpoint), BLOCK_NUMBER, { signal: controller.signal }),
    ).rejects.toBe(reason);
  });
});

describe('Endpoint preference', () => {
  test('determines the endpoint to try first', async () => {
    const servers = [
      await serve({ eth_blockNumber: () => '0x1' }),
      await serve({ eth_blockNumber: () => '0x2' }),
    ];
    const chain = chainOf(...servers.map(({ url }, index) => sampleEndpoint(url, `e${index}`)));
    const preference: EndpointPreference = (chainId, { label }) =>
      chainId === 1 && label === 'e0' ? 'last' : 'first';
    const answer = await client(servers, { preference }).askAny(chain, BLOCK_NUMBER);
    expect(answer).toEqual({ value: 2, endpoint: 'e1' });
    expect(servers[0]?.calls).toEqual([]);
  });
});

describe('Probe', () => {
  const probe = async (server: RpcServer): Promise<unknown> => {
    const endpoint = sampleEndpoint(server.url, 'sample');
    return client([server]).probe(chainOf(endpoint), endpoint, BLOCK_NUMBER);
  };

  test('is a single request without chain check or retry', async () => {
    const other = await serve({ ...chainId('0x2'), eth_blockNumber: () => '0x7' });
    expect(await probe(other)).toBe(7);
    expect(other.calls).toEqual(['eth_blockNumber']);
    const failing = await serve({
      eth_blockNumber: (_params, response) => void response.writeHead(503).end(),
    });
    await expect(probe(failing)).rejects.toMatchObject({ details: { reason: 'status_503' } });
    expect(failing.calls).toHaveLength(1);
  });

  test('exposes the HTTP status of an error object', async () => {
    const locked = await serve({
      eth_blockNumber: (_params, response, id) => {
        const error = { code: -32_600, message: 'Must be authenticated!' };
        response.writeHead(401).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
    });
    await expect(probe(locked)).rejects.toMatchObject({
      code: 'rpc_refused',
      details: { errorCode: -32_600, httpStatus: 401 },
    });
  });
});

describe('Allowed private hosts', () => {
  const registered = (origin: string, ...endpoints: Endpoint[]): unknown => ({
    record: { chainId: 1 },
    origins: { rpc: origin },
    endpoints,
    local: false,
    testnet: false,
  });
  const hosts = (...chains: unknown[]): readonly string[] =>
    findOperatorHosts(chains as Parameters<typeof findOperatorHosts>[0]);

  test('are those configured by the operator, by host and port', () => {
    const hidden = {
      url: new Secret('https://node.corp.example/key'),
      label: 'private-1',
      public: false,
    };
    expect(
      hosts(
        registered('list', sampleEndpoint('https://stranger.example'), hidden),
        registered('configuration', sampleEndpoint('https://mine.example:8545')),
        registered('list + configuration', sampleEndpoint('https://either.example')),
        registered('list', sampleEndpoint('http://127.0.0.1:8545')),
        registered('configuration', sampleEndpoint('wss://socket.example')),
      ),
    ).toEqual([
      'node.corp.example:443',
      'mine.example:8545',
      '127.0.0.1:8545',
      'socket.example:443',
    ]);
  });
});

describe('Response schemas', () => {
  test('accept the specified fields and drop the rest', () => {
    const hash = `0x${'Ab'.repeat(32)}`;
    expect(blockHead.parse({ number: '0x0a', hash, timestamp: '0x1', extra: 1 })).toEqual({
      number: 10,
      hash: hash.toLowerCase(),
      timestamp: 1,
    });
    expect(data.parse('0x00FF')).toEqual(Buffer.of(0, 255));
    expect(data.parse('0x')).toHaveLength(0);
  });

  test.each(['0x1', '00', '0xgg', '', null, 1, ['0x']])('reject data %j', (value) => {
    expect(data.safeParse(value).success).toBe(false);
  });

  test('parse megabytes of data', () => {
    expect(data.parse(`0x${'ab'.repeat(3_000_000)}`)).toHaveLength(3_000_000);
    expect(z.array(data).safeParse([`0x${'ab'.repeat(3_000_000)}z`]).success).toBe(false);
  });
});
