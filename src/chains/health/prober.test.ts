import { afterEach, describe, expect, test } from 'vitest';
import {
  type RpcMethod,
  type RpcServer,
  RpcServerError,
  startRpcServer,
} from '../../../test/support/rpc-server.ts';
import { startSocketServer, type WebServer } from '../../../test/support/web-server.ts';
import { hostPortOf } from '../../lib/address-guard.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { Secret } from '../../lib/secret.ts';
import { silentLogger } from '../../log.ts';
import { type RegisteredChain } from '../registry/registered-chain.ts';
import { createRpcClient } from '../rpc/rpc-client.ts';
import { HealthBook } from './health-book.ts';
import { type EndpointReport, reportChain } from './health-report.ts';
import { Prober, type ProberOptions } from './prober.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const START = Date.parse('2026-05-01T00:00:00Z');
const EVERY_MS = 60_000;
const BLOCK_S = 12;

/** A clock that only the test moves. */
class Clock {
  now = START;
  tick(milliseconds: number): void {
    this.now += milliseconds;
  }
}

/** The newest block of a chain with a block every twelve seconds, as seen `behind` blocks ago. */
function blockAt(now: number, behind = 0): object {
  const number = Math.floor((now - START) / 1000 / BLOCK_S) + 1_000_000 - behind;
  return {
    number: `0x${number.toString(16)}`,
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    timestamp: `0x${(START / 1000 + (number - 1_000_000) * BLOCK_S).toString(16)}`,
  };
}

/** A block by number or tag, of an endpoint that is `behind`. */
function chainMethods(clock: Clock, behind: () => number = () => 0): Record<string, RpcMethod> {
  return {
    eth_chainId: () => '0x1',
    eth_getBlockByNumber: ([tag]) => {
      if (tag === 'latest') return blockAt(clock.now, behind());
      const back = (clock.now - START) / 1000 / BLOCK_S + 1_000_000 - Number(tag);
      return blockAt(clock.now, Math.floor(back));
    },
  };
}

async function serve(methods: Record<string, RpcMethod>): Promise<RpcServer> {
  const server = await startRpcServer(methods);
  closers.push(server.close);
  return server;
}

const refuse =
  (status: number, headers: Record<string, string> = {}): RpcMethod =>
  (_params, response) =>
    void response.writeHead(status, headers).end('no');

function chainOf(servers: readonly (WebServer | string)[], chainId = 1): RegisteredChain {
  return {
    record: { name: 'Sample', rpc: [], chainId, supported: true, monitored: false },
    origins: {},
    endpoints: servers.map((server, index) => ({
      // Separate hosts: endpoints of one host wait for each other.
      url: new Secret(
        typeof server === 'string' ? server : `http://e${index}.localhost:${server.port}/key`,
      ),
      label: `e${index}`,
      public: true,
    })),
    testnet: false,
    local: false,
  };
}

interface Watch {
  readonly clock: Clock;
  readonly prober: Prober;
  readonly book: HealthBook;
  chains: readonly RegisteredChain[];
  configuration: unknown;
  /** Advances the clock and probes what is due, repeatedly. */
  rounds(count: number, milliseconds?: number): Promise<void>;
  report(index?: number): EndpointReport;
  codes(index?: number): readonly string[];
}

function watch(
  clock: Clock,
  chains: readonly RegisteredChain[],
  options: Partial<ProberOptions> = {},
): Watch {
  const hosts = chains.flatMap(({ endpoints }) =>
    endpoints.map(({ url }) => hostPortOf(new URL(url.reveal()))),
  );
  const fetch = createGuardedFetch({
    allowPrivate: hosts,
    maxBytes: 1_000_000,
    deadlineMs: 5000,
    maxRedirects: 0,
    userAgent: 'fullmatch-test',
    breaker: { now: () => clock.now },
    resolve: async () => ['127.0.0.1'],
  });
  closers.push(() => fetch.close());
  const book = new HealthBook();
  const watched: Watch = {
    clock,
    book,
    chains,
    configuration: 'first',
    prober: new Prober(
      {
        rpc: createRpcClient({ fetch }),
        chains: () => watched.chains,
        configuration: () => watched.configuration,
        book,
      },
      {
        everyMs: EVERY_MS,
        dailyBudget: 100_000,
        deadlineMs: 300,
        now: () => clock.now,
        stopwatch: () => clock.now,
        random: () => 0.5,
        ...options,
      },
      silentLogger,
    ),
    async rounds(count, milliseconds = EVERY_MS) {
      for (let round = 0; round < count; round += 1) {
        clock.tick(milliseconds);
        await this.prober.probeDue();
      }
    },
    report(index = 0) {
      const [chain] = book.chains;
      return reportChain(chain!).endpoints[index]!;
    },
    codes(index) {
      return this.report(index).reasons.map(({ code }) => code);
    },
  };
  closers.push(() => watched.prober.close());
  watched.prober.refreshChains();
  return watched;
}

describe('Endpoint', () => {
  test('is unknown, then up with its head, latency and capabilities', async () => {
    const clock = new Clock();
    const server = await serve({
      ...chainMethods(clock),
      eth_getBalance: () => '0x0',
      debug_traceCall: () => ({ type: 'CALL' }),
    });
    const { eth_getBlockByNumber: block } = server.methods;
    server.methods.eth_getBlockByNumber = (params, response, id) => {
      clock.tick(25);
      return block?.(params, response, id);
    };
    const watched = watch(clock, [chainOf([server])]);
    expect(watched.report()).toMatchObject({ state: 'unknown', since: new Date(START) });
    expect(watched.codes()).toEqual(['not_checked_yet']);
    await watched.rounds(1);
    expect(watched.report()).toMatchObject({ state: 'unknown', archive: 'yes', trace: 'yes' });
    expect(watched.report().latency).toBeUndefined();
    expect(watched.codes()).toEqual(['recovering']);
    await watched.rounds(1);
    const report = watched.report();
    expect(report).toMatchObject({
      state: 'up',
      reasons: [],
      lagBlocks: 0,
      latency: { p50Ms: 25, p95Ms: 25, samples: 1 },
      since: new Date(clock.now),
      checkedAt: new Date(clock.now),
    });
    expect(report.head?.number).toBe(1_000_010);
    await watched.rounds(3);
    expect(watched.report()).toMatchObject({ since: report.since, checkedAt: new Date(clock.now) });
    expect(server.calls.filter((name) => name === 'eth_getBalance')).toHaveLength(1);
  });

  test('has its capabilities probed once a day by the kind of its responses', async () => {
    const clock = new Clock();
    const pruned = await serve({
      ...chainMethods(clock),
      eth_getBalance: () => {
        throw new RpcServerError(-32_000, 'missing trie node');
      },
    });
    const silent = await serve({
      ...chainMethods(clock),
      eth_getBalance: refuse(502),
      debug_traceCall: refuse(502),
    });
    const flat = await serve({ ...chainMethods(clock), trace_transaction: () => null });
    const watched = watch(clock, [chainOf([pruned, silent, flat])]);
    await watched.rounds(2);
    const offers = [0, 1, 2].map((index) => {
      const { archive, trace } = watched.report(index);
      return [archive, trace];
    });
    expect(offers).toEqual([
      ['no', 'no'],
      ['unknown', 'unknown'],
      ['no', 'yes'],
    ]);
    expect(watched.book.chains[0]!.state).toBe('up');
    pruned.methods.eth_getBalance = () => '0x0';
    await watched.rounds(3);
    expect(watched.report().archive).toBe('no');
    await watched.rounds(2, 86_400_000);
    expect(watched.report().archive).toBe('yes');
  });

  test('of another chain is not probed again until the configuration changes', async () => {
    const clock = new Clock();
    const server = await serve({ ...chainMethods(clock), eth_chainId: () => '0x5' });
    const watched = watch(clock, [chainOf([server])]);
    await watched.rounds(1);
    expect(watched.report().state).toBe('wrong_chain');
    expect(watched.report().reasons).toMatchObject([
      { code: 'wrong_chain', detail: expect.stringContaining('chain 5, not 1') as string },
    ]);
    server.methods.eth_chainId = () => '0x1';
    await watched.rounds(20);
    expect(watched.report().state).toBe('wrong_chain');
    expect(server.calls).toEqual(['eth_chainId']);
    watched.configuration = 'second';
    await watched.rounds(3);
    expect(watched.report().state).toBe('up');
  });

  test('that rejects requests is throttled, never down, and rests for Retry-After', async () => {
    const clock = new Clock();
    const methods = (status: number, headers = {}): Record<string, RpcMethod> => ({
      eth_chainId: refuse(status, headers),
    });
    const jsonError: RpcMethod = (_params, response, id) => {
      const error = { code: -32_600, message: 'Must be authenticated!' };
      response.writeHead(401).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    };
    const servers = [
      await serve(methods(401)),
      await serve(methods(403)),
      await serve(methods(429, { 'retry-after': '600' })),
      await serve({ eth_chainId: jsonError }),
      await serve({
        eth_chainId: () => {
          throw new RpcServerError(-32_005, 'limit exceeded');
        },
      }),
    ];
    const handshake = await startSocketServer((socket) => {
      socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
    });
    closers.push(handshake.close);
    const endpoints = [...servers, `ws://e5.localhost:${handshake.port}/key`];
    const watched = watch(clock, [chainOf(endpoints)]);
    await watched.rounds(8);
    expect(endpoints.map((_endpoint, index) => watched.report(index).state)).toEqual(
      endpoints.map(() => 'throttled'),
    );
    expect(endpoints.map((_endpoint, index) => watched.codes(index))).toEqual([
      ['status_401'],
      ['status_403'],
      ['throttled'],
      ['status_401'],
      ['throttled'],
      ['status_401'],
    ]);
    expect(servers[2]!.calls).toHaveLength(1);
    expect(watched.book.chains[0]!.state).toBe('degraded');
    servers[2]!.methods.eth_chainId = () => '0x1';
    Object.assign(servers[2]!.methods, { ...chainMethods(clock) });
    await watched.rounds(5);
    expect(watched.report(2).state).toBe('up');
  });

  test.each<[string, Record<string, RpcMethod>, string]>([
    ['answers 500', { eth_chainId: refuse(500) }, 'status_500'],
    ['hangs', { eth_chainId: () => undefined }, 'deadline_exceeded'],
    ['hangs up', { eth_chainId: (_p, response) => void response.destroy() }, 'connection_failed'],
    ['gives nonsense', { eth_chainId: () => 'mainnet' }, 'rpc_invalid_answer'],
    [
      'has no blocks',
      { eth_chainId: () => '0x1', eth_getBlockByNumber: () => null },
      'block_unknown',
    ],
    ['knows no methods', {}, 'rpc_refused'],
  ])('that %s is down after five probes and up again after two', async (_how, methods, code) => {
    const clock = new Clock();
    const server = await serve(methods);
    const watched = watch(clock, [chainOf([server])]);
    const states: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      await watched.rounds(1);
      states.push(watched.report().state);
    }
    expect(states).toEqual([...Array<string>(4).fill('unknown'), 'down', 'down']);
    expect(watched.codes()).toEqual([code]);
    expect(watched.report().since).toEqual(new Date(START + 5 * EVERY_MS + elapsed(watched)));
    expect(watched.book.chains[0]!.state).toBe('down');
    Object.assign(server.methods, chainMethods(clock));
    await watched.rounds(1);
    expect(watched.report().state).toBe('down');
    expect(watched.codes()).toEqual(['recovering']);
    await watched.rounds(1);
    expect(watched.report().state).toBe('up');
  });

  test('that flaps keeps its state', async () => {
    const clock = new Clock();
    const server = await serve(chainMethods(clock));
    const watched = watch(clock, [chainOf([server])]);
    await watched.rounds(2);
    const { since } = watched.report();
    for (let round = 0; round < 12; round += 1) {
      const failing = round % 3 !== 2;
      server.methods.eth_chainId = failing ? refuse(500) : () => '0x1';
      await watched.rounds(1);
      expect(watched.report()).toMatchObject({ state: 'up', since });
      expect(watched.codes()).toEqual(failing ? ['status_500'] : []);
    }
  });

  test('that lags behind its peers is deprioritized until it has caught up', async () => {
    const clock = new Clock();
    let behind = 50;
    const late = await serve(chainMethods(clock, () => behind));
    const good = await serve(chainMethods(clock));
    const chain = chainOf([late, good]);
    const watched = watch(clock, [chain]);
    await watched.rounds(2);
    expect(watched.report().state).toBe('lagging');
    // The peer's head may be that of the previous probe, five blocks ago.
    expect([45, 50]).toContain(watched.report().lagBlocks);
    expect(watched.codes()).toEqual(['behind_peers']);
    expect(watched.report(1)).toMatchObject({ state: 'up', lagBlocks: 0 });
    expect(chain.endpoints.map((endpoint) => watched.book.rank(1, endpoint))).toEqual([
      'later',
      'first',
    ]);
    behind = 0;
    await watched.rounds(1);
    expect(watched.report()).toMatchObject({ state: 'lagging', lagBlocks: 0 });
    await watched.rounds(1);
    expect(watched.report().state).toBe('up');
  });

  test('is stalled if the whole chain stops, judged by the learned pace', async () => {
    const clock = new Clock();
    let stalledAt: number | undefined;
    const methods = chainMethods(clock, () =>
      stalledAt === undefined ? 0 : Math.floor((clock.now - stalledAt) / 1000 / BLOCK_S),
    );
    const watched = watch(clock, [chainOf([await serve(methods), await serve(methods)])]);
    await watched.rounds(3);
    expect(reportChain(watched.book.chains[0]!).secondsPerBlock).toBe(BLOCK_S);
    stalledAt = clock.now;
    await watched.rounds(3);
    expect(watched.report().state).toBe('up');
    await watched.rounds(2);
    expect(watched.report().state).toBe('stalled');
    expect(watched.codes()).toEqual(['head_too_old']);
    expect(watched.book.chains[0]!.state).toBe('degraded');
    stalledAt = undefined;
    await watched.rounds(2);
    expect(watched.report().state).toBe('up');
  });

  test('with a forged future head makes no other endpoint lag', async () => {
    const clock = new Clock();
    const liar = await serve({
      ...chainMethods(clock),
      eth_getBlockByNumber: () => ({ ...blockAt(clock.now, -100_000) }),
    });
    const honest = await serve(chainMethods(clock));
    const watched = watch(clock, [chainOf([liar, honest])]);
    await watched.rounds(3);
    expect(watched.codes()).toEqual(['head_in_future']);
    expect(watched.report(1)).toMatchObject({ state: 'up', lagBlocks: 0 });
  });
});

/** How far the clock moved by itself since the last probe of the fifth round: zero unless a method moved it. */
function elapsed({ clock }: Watch): number {
  return (clock.now - START) % EVERY_MS;
}

describe('Prober', () => {
  test('sends one request at a time per host, in parallel across hosts', async () => {
    const clock = new Clock();
    let atOnce = 0;
    let most = 0;
    const delayed: RpcMethod = (_params, response, id) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
      }, 30);
    };
    const server = await serve({ ...chainMethods(clock), eth_chainId: delayed });
    const other = await serve({ ...chainMethods(clock), eth_chainId: delayed });
    const sameHost = [0, 1, 2].map((path) => `http://same.localhost:${server.port}/${path}`);
    const watched = watch(clock, [chainOf(sameHost)]);
    await watched.rounds(2);
    expect(server.calls.filter((name) => name === 'eth_chainId')).toHaveLength(6);
    expect(most).toBe(1);
    const apart = watch(clock, [chainOf([server, other])]);
    await apart.rounds(2);
    expect(most).toBe(2);
  });

  test('probes at the configured interval, and sooner while the state is unknown', async () => {
    const clock = new Clock();
    const server = await serve(chainMethods(clock));
    const watched = watch(clock, [chainOf([server])]);
    const count = (): number => server.calls.filter((name) => name === 'eth_chainId').length;
    await watched.rounds(60, 1000);
    // The first within seconds, the second a quarter of a minute later, then one a minute.
    expect(count()).toBe(2);
    await watched.rounds(600, 1000);
    expect(count()).toBe(12);
  });

  test("never exceeds a host's daily budget, and reports when it is used up", async () => {
    const clock = new Clock();
    const server = await serve(chainMethods(clock));
    const watched = watch(clock, [chainOf([server])], { dailyBudget: 10 });
    await watched.rounds(30, 600_000);
    expect(server.calls.length).toBeLessThanOrEqual(10);
    server.methods.eth_chainId = refuse(500);
    // A quarter of the interval while the state is unknown would exceed the budget.
    await watched.rounds(110, 600_000);
    expect(server.calls.length).toBeLessThanOrEqual(10);
    expect(watched.codes()).toContain('budget_spent');
    const before = server.calls.length;
    await watched.rounds(10, 3_600_000);
    expect(server.calls.length).toBeGreaterThan(before);
  });

  test('follows chain changes and keeps the state of remaining endpoints', async () => {
    const clock = new Clock();
    const [first, second] = [await serve(chainMethods(clock)), await serve(chainMethods(clock))];
    const both = chainOf([first, second]);
    const watched = watch(clock, [both]);
    await watched.rounds(2);
    const { since } = watched.report();
    watched.chains = [{ ...both, endpoints: both.endpoints.slice(0, 1) }];
    const calls = second.calls.length;
    await watched.rounds(3);
    expect(second.calls).toHaveLength(calls);
    expect(watched.report()).toMatchObject({ state: 'up', since });
    watched.chains = [];
    await watched.rounds(1);
    expect(watched.book.chains).toEqual([]);
  });

  test('settles every state at once on request', async () => {
    const clock = new Clock();
    const good = await serve(chainMethods(clock));
    const dead = await serve({ eth_chainId: refuse(500) });
    const watched = watch(clock, [chainOf([good, dead])]);
    await watched.prober.settle();
    expect([watched.report(0).state, watched.report(1).state]).toEqual(['up', 'down']);
    expect(dead.calls).toHaveLength(5);
  });

  test('aborts a pending request on close', async () => {
    const clock = new Clock();
    const hanging = await serve({ eth_chainId: () => undefined });
    const watched = watch(clock, [chainOf([hanging])], { deadlineMs: 60_000 });
    clock.tick(EVERY_MS);
    const probing = watched.prober.probeDue();
    await watched.prober.close();
    await probing;
    expect(watched.report().state).toBe('unknown');
  });
});

describe('Chain with dozens of endpoints', () => {
  test('has the first twenty probed and reports the others as not probed', () => {
    const urls = Array.from({ length: 25 }, (_, index) => `https://e${index}.example`);
    const report = reportChain(watch(new Clock(), [chainOf(urls)]).book.chains[0]!);
    const unprobed = report.endpoints.filter(({ state }) => state === 'not_probed');
    expect(report.endpoints.map(({ label }) => label)).toEqual(urls.map((_url, at) => `e${at}`));
    expect(unprobed.map(({ label }) => label)).toEqual(['e20', 'e21', 'e22', 'e23', 'e24']);
    expect(unprobed[0]!.reasons).toMatchObject([{ code: 'too_many_endpoints' }]);
  });
});

describe('Endpoint labels', () => {
  test('distinguish two endpoints of one host without showing a URL', async () => {
    const clock = new Clock();
    const server = await serve(chainMethods(clock));
    const chain = chainOf(
      [1, 2].map((key) => `http://same.localhost:${server.port}/secret-${key}`),
    );
    const endpoints = chain.endpoints.map((endpoint) => ({ ...endpoint, label: 'same.localhost' }));
    const watched = watch(clock, [{ ...chain, endpoints }]);
    await watched.rounds(2);
    const report = reportChain(watched.book.chains[0]!);
    expect(report.endpoints.map(({ label }) => label)).toEqual([
      'same.localhost',
      'same.localhost#2',
    ]);
    expect(JSON.stringify(report)).not.toContain('secret');
  });
});
