import { afterEach, describe, expect, test } from 'vitest';
import {
  type RpcMethod,
  type RpcServer,
  RpcServerError,
  sampleEndpoint,
  startRpcServer,
} from '../../../test/support/rpc-server.ts';
import { createGuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Hex } from '../../lib/hex.ts';
import { type RpcChain } from './rpc-chain.ts';
import { readCreation } from './creation.ts';
import { readDeployedCode, type ReadCodeOptions } from './deployed-code.ts';
import { createRpcClient, type RpcClient } from './rpc-client.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

const ADDRESS: Hex = `0x${'c0'.repeat(20)}`;
const SENDER: Hex = `0x${'5e'.repeat(20)}`;
const FACTORY: Hex = `0x${'fa'.repeat(20)}`;
const HASH: Hex = `0x${'77'.repeat(32)}`;
const hex = (number: number): string => `0x${number.toString(16)}`;

/** The hash of a block of the true chain, or of a fork of it. */
function blockHash(number: number, fork = 0): Hex {
  return `0x${fork.toString(16).padStart(32, '0')}${number.toString(16).padStart(32, '0')}`;
}

interface NodeState {
  /** The newest block. */
  head: number;
  /** Code by block; deployed in block 90 by default. */
  codeAt?: (block: number) => string;
  fork?: number;
  /** Whether eth_getCode accepts a block hash. */
  byHash?: boolean;
  /** Seconds between blocks. */
  pace?: number;
}

/** The RPC methods of a node with blocks up to its head; block n is `pace` × n seconds old. */
function nodeMethods(state: NodeState): Record<string, RpcMethod> {
  const codeAt = state.codeAt ?? ((block: number) => (block >= 90 ? '0x6001' : '0x'));
  const block = (number: number): unknown =>
    number > state.head
      ? null
      : {
          number: hex(number),
          hash: blockHash(number, state.fork),
          timestamp: hex(number * (state.pace ?? 12)),
        };
  return {
    eth_chainId: () => '0x1',
    eth_getBlockByNumber: ([tag]) => block(tag === 'latest' ? state.head : Number(tag)),
    eth_getBlockByHash: ([hash]) => {
      const number = Number(`0x${String(hash).slice(-12)}`);
      return hash === blockHash(number, state.fork) ? block(number) : null;
    },
    eth_getCode([, at]) {
      if (typeof at === 'string') return codeAt(Number(at));
      if (state.byHash === false) throw new RpcServerError(-32_602, 'invalid argument 1');
      return codeAt(Number(`0x${(at as { blockHash: string }).blockHash.slice(-12)}`));
    },
  };
}

interface Net {
  readonly rpc: RpcClient;
  readonly chain: RpcChain;
  readonly servers: readonly RpcServer[];
}

/** A chain whose endpoints are servers on hosts a.example, b.example and so on. */
async function createNet(
  nodes: readonly Record<string, RpcMethod>[],
  endpointMs = 1500,
): Promise<Net> {
  const servers = await Promise.all(nodes.map((methods) => startRpcServer(methods)));
  const names = servers.map((_, index) => `${String.fromCodePoint(97 + index)}.example`);
  const hosts = servers.map(({ port }, index) => `${names[index] ?? ''}:${port}`);
  const subdomains = hosts.flatMap((host) => [`one.${host}`, `two.${host}`]);
  const guarded = createGuardedFetch({
    allowPrivate: [...hosts, ...subdomains],
    maxBytes: 1_000_000,
    deadlineMs: 5000,
    maxRedirects: 0,
    userAgent: 'fullmatch-test',
    resolve: async () => ['127.0.0.1'],
    breaker: { failures: 100, backoffMs: 1 },
  });
  closers.push(() => guarded.close(), ...servers.map(({ close }) => close));
  const rpc = createRpcClient({ fetch: guarded, backoffMs: 1, deadlineMs: endpointMs });
  return {
    rpc,
    chain: {
      record: { chainId: 1 },
      endpoints: hosts.map((host, index) =>
        sampleEndpoint(`http://${host}/canary`, names[index]?.slice(0, 1)),
      ),
      local: false,
    },
    servers,
  };
}

async function readCode(
  nodes: readonly Record<string, RpcMethod>[],
  options: ReadCodeOptions = {},
): Promise<unknown> {
  const { rpc, chain } = await createNet(nodes);
  return readDeployedCode(rpc, chain, ADDRESS, options).catch((error: unknown) => {
    expect(JSON.stringify([error, String(error)])).not.toMatch(/canary|example/);
    return error;
  });
}

const honest = (state: Partial<NodeState> = {}): Record<string, RpcMethod> =>
  nodeMethods({ head: 100, ...state });

describe('Two endpoints that agree', () => {
  test('return the code, the block and their labels', async () => {
    expect(await readCode([honest(), honest()])).toEqual({
      code: Buffer.from('6001', 'hex'),
      blockNumber: 100,
      blockHash: blockHash(100),
      endpoints: ['a', 'b'],
      witnesses: 2,
    });
  });

  test('agree at the older head if one is slightly behind', async () => {
    const answer = await readCode([honest({ head: 102 }), honest()]);
    expect(answer).toMatchObject({ blockNumber: 100, endpoints: ['a', 'b'] });
  });

  test('agree at the newer head if the other catches up', async () => {
    const late: NodeState = { head: 100 };
    const methods = nodeMethods(late);
    const byHash = methods.eth_getBlockByHash!;
    methods.eth_getBlockByHash = (params, response, id) => {
      late.head = 102;
      return byHash(params, response, id);
    };
    const answer = await readCode([methods, honest({ head: 102 })]);
    expect(answer).toMatchObject({ blockNumber: 102 });
  });

  test('need not support block hash parameters', async () => {
    const answer = await readCode([honest({ byHash: false }), honest({ byHash: false })]);
    expect(answer).toMatchObject({ blockNumber: 100, endpoints: ['a', 'b'] });
  });

  test("are queried at the caller's block", async () => {
    const answer = await readCode([honest({ head: 105 }), honest()], { blockTag: 95 });
    expect(answer).toMatchObject({ blockNumber: 95, blockHash: blockHash(95) });
    expect(await readCode([honest(), honest()], { blockTag: 101 })).toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ reason: 'block_unknown' }, { reason: 'block_unknown' }] },
    });
  });

  test('report that no contract is deployed', async () => {
    const empty = { codeAt: () => '0x' };
    expect(await readCode([honest(empty), honest(empty)])).toMatchObject({
      code: 'contract_not_deployed',
      details: { blockNumber: 100, endpoints: ['a', 'b'] },
    });
  });

  test('must have two operators: hosts of one domain count once', async () => {
    const { rpc, chain, servers } = await createNet([honest(), honest()]);
    const [a = 0, b = 0] = servers.map(({ port }) => port);
    const named = (...hosts: readonly string[]): RpcChain => ({
      ...chain,
      endpoints: hosts.map((host) => sampleEndpoint(`http://${host}`, host.split('.', 1)[0])),
    });
    const oneDomain = named(`one.b.example:${b}`, `two.b.example:${b}`);
    expect(await readDeployedCode(rpc, oneDomain, ADDRESS)).toMatchObject({
      endpoints: ['one'],
      witnesses: 1,
    });
    await expect(readDeployedCode(rpc, oneDomain, ADDRESS, { quorum: 2 })).rejects.toMatchObject({
      code: 'cannot_fetch_bytecode',
    });
    const twoDomains = named(`one.b.example:${b}`, `two.b.example:${b}`, `a.example:${a}`);
    expect(await readDeployedCode(rpc, twoDomains, ADDRESS)).toMatchObject({
      endpoints: ['one', 'a'],
      witnesses: 2,
    });
    await servers[0]?.close();
    await expect(readDeployedCode(rpc, twoDomains, ADDRESS)).rejects.toMatchObject({
      code: 'cannot_fetch_bytecode',
    });
  });
});

describe('Endpoints that disagree', () => {
  const lies = { codeAt: () => '0xdead' };

  test('yield no code', async () => {
    expect(await readCode([honest(), honest(lies)])).toMatchObject({
      code: 'endpoints_disagree',
      details: { about: 'code', endpoints: ['a', 'b'] },
    });
    expect(await readCode([honest(), honest({ codeAt: () => '0x' })])).toMatchObject({
      code: 'endpoints_disagree',
    });
    expect(await readCode([honest(), honest({ fork: 1 })])).toMatchObject({
      code: 'endpoints_disagree',
      details: { about: 'block' },
    });
    expect(await readCode([honest(), honest({ head: 102, fork: 1 })])).toMatchObject({
      code: 'endpoints_disagree',
      details: { about: 'block' },
    });
  });

  test.each([
    ['number', { number: hex(100_000_000) }],
    ['lower number', { number: hex(99) }],
    ['timestamp', { timestamp: hex(1) }],
  ])('on the %s of the block with the same hash yield no code', async (_what, lie) => {
    const truth = honest();
    const liar = { ...truth };
    for (const method of ['eth_getBlockByNumber', 'eth_getBlockByHash']) {
      liar[method] = (params, response, id) => {
        const block = truth[method]?.(params, response, id);
        return params[0] === 'latest' || params[0] === blockHash(100)
          ? { ...(block as object), ...lie }
          : block;
      };
    }
    for (const nodes of [
      [liar, honest()],
      [honest(), liar],
    ]) {
      expect(await readCode(nodes)).toMatchObject({
        code: 'endpoints_disagree',
        details: { about: 'block' },
      });
    }
    const settled = [honest({ head: 101 }), honest({ head: 99 })].flatMap((behind) => [
      [liar, behind, honest()],
      [behind, liar, honest()],
    ]);
    // A node that has not received a block is queried again for a while.
    for (const answer of await Promise.all(settled.map((nodes) => readCode(nodes)))) {
      const { blockNumber, blockHash: hash } = answer as { blockNumber: number; blockHash: Hex };
      expect(hash).toBe(blockHash(blockNumber));
    }
  });

  test.each([0, 1, 2])('are outvoted by two others that agree (liar at %d)', async (place) => {
    for (const lie of [lies, { fork: 1 }, { head: 10_000_000, fork: 1 }]) {
      const nodes = [honest(), honest()];
      nodes.splice(place, 0, honest(lie));
      const answer = await readCode(nodes);
      expect(answer).toMatchObject({ code: Buffer.from('6001', 'hex'), blockNumber: 100 });
      const liar = 'abc'.charAt(place);
      expect((answer as { endpoints: string[] }).endpoints).not.toContain(liar);
    }
  });

  test('because one is stale yield no code and no "not deployed"', async () => {
    expect(await readCode([honest({ head: 100 }), honest({ head: 50 })])).toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ endpoint: 'b', reason: 'stale' }] },
    });
  });

  test('because one lacks the newest block do not prove that nothing is deployed', async () => {
    const fresh = (block: number): string => (block >= 102 ? '0x6001' : '0x');
    const nodes = [honest({ head: 102, codeAt: fresh }), honest({ head: 100, codeAt: fresh })];
    expect(await readCode(nodes)).toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ endpoint: 'b', reason: 'behind' }] },
    });
  });
});

describe('Failing endpoints', () => {
  const html: RpcMethod = (_params, response) => void response.writeHead(200).end('<html>');
  const cut: RpcMethod = (_params, response) => void response.writeHead(200).end('{"jsonrpc"');
  const drip: RpcMethod = (_params, response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };
  const down: RpcMethod = (_params, response) => void response.writeHead(500).end();
  const busy: RpcMethod = (_params, response) =>
    void response.writeHead(429, { 'retry-after': '60' }).end();

  test.each([
    ['another chain', { eth_chainId: () => '0x2' }, 'wrong_chain'],
    ['HTML', { eth_getBlockByNumber: html }, 'rpc_invalid_answer'],
    ['HTML for the code', { eth_getCode: html }, 'rpc_invalid_answer'],
    ['truncated JSON', { eth_getCode: cut }, 'rpc_invalid_answer'],
    ['a drip', { eth_getCode: drip }, 'deadline_exceeded'],
    ['status 500', { eth_getCode: down }, 'status_500'],
    ['status 429', { eth_getBlockByNumber: busy }, 'throttled'],
    ['half a byte', { eth_getCode: () => '0x600' }, 'rpc_invalid_answer'],
    ['no block', { eth_getBlockByNumber: () => null }, 'block_unknown'],
    [
      'a block without hash',
      { eth_getBlockByNumber: () => ({ number: '0x1', hash: null }) },
      'rpc_invalid_answer',
    ],
    [
      'no state',
      {
        eth_getCode: () => {
          throw new RpcServerError(-32_000, 'missing trie node');
        },
      },
      'rpc_refused',
    ],
  ] as [string, Record<string, RpcMethod>, string][])(
    'with %s are skipped, or named as the reason if none is left',
    async (_what, fault, reason) => {
      const broken = { ...honest(), ...fault };
      expect(await readCode([broken, honest(), honest()])).toMatchObject({
        blockNumber: 100,
        endpoints: ['b', 'c'],
      });
      const alone = await readCode([broken], { quorum: 1 });
      expect(alone).toMatchObject({
        code: 'cannot_fetch_bytecode',
        details: { endpoints: [{ endpoint: 'a', reason }] },
      });
    },
  );

  test('with oversized code are skipped unless a quorum reports it', async () => {
    const large = { ...honest(), eth_getCode: () => `0x${'00'.repeat(1_001_000)}` };
    expect(await readCode([large, honest(), honest()])).toMatchObject({ endpoints: ['b', 'c'] });
    expect(await readCode([large, honest()])).toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ endpoint: 'a', reason: 'code_too_large' }] },
    });
    expect(await readCode([large, large])).toMatchObject({ code: 'code_too_large' });
    const largest = { ...honest(), eth_getCode: () => `0x${'00'.repeat(1_000_000)}` };
    expect(await readCode([largest, largest])).toMatchObject({ endpoints: ['a', 'b'] });
  });

  test('are retried after a transient failure', async () => {
    let times = 0;
    const flaky = honest();
    const getCode = flaky.eth_getCode!;
    flaky.eth_getCode = (params, response, id) => {
      times += 1;
      return times < 3 ? down(params, response, id) : getCode(params, response, id);
    };
    expect(await readCode([flaky, honest()])).toMatchObject({ endpoints: ['a', 'b'] });
  });

  test('or a missing endpoint never prove that nothing is deployed', async () => {
    expect(await readCode([])).toMatchObject({ code: 'cannot_fetch_bytecode' });
    expect(await readCode([{}, {}])).toMatchObject({ code: 'cannot_fetch_bytecode' });
  });

  test('do not prove that nothing is deployed while syncing', async () => {
    const syncing = {
      ...honest({ codeAt: () => '0x' }),
      eth_syncing: () => ({ currentBlock: '0x64' }),
    };
    expect(await readCode([syncing], { quorum: 1 })).toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ endpoint: 'a', reason: 'syncing' }] },
    });
    const synced = { ...honest({ codeAt: () => '0x' }), eth_syncing: () => false };
    expect(await readCode([synced], { quorum: 1 })).toMatchObject({
      code: 'contract_not_deployed',
    });
  });

  test('are abandoned at the overall deadline', async () => {
    const slow = { ...honest(), eth_getCode: drip };
    // No endpoint reaches its own timeout before the test ends.
    const { rpc, chain } = await createNet([slow, slow, slow], 600_000);
    await expect(readDeployedCode(rpc, chain, ADDRESS, { deadlineMs: 500 })).rejects.toMatchObject({
      code: 'cannot_fetch_bytecode',
    });
  });

  test('are abandoned when the caller aborts', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const asked: RpcMethod = (...request) => {
      controller.abort(reason);
      return drip(...request);
    };
    const slow = { ...honest(), eth_getCode: asked };
    expect(await readCode([slow, slow], { signal: controller.signal })).toBe(reason);
  });
});

describe("Operator's own node", () => {
  test('suffices alone and is queried first', async () => {
    const own = await startRpcServer(honest());
    const stranger = await startRpcServer(honest({ codeAt: () => '0xdead' }));
    closers.push(own.close, stranger.close);
    const guarded = createGuardedFetch({
      allowPrivate: [own.hostPort, `stranger.example:${stranger.port}`],
      maxBytes: 1_000_000,
      deadlineMs: 5000,
      maxRedirects: 0,
      userAgent: 'fullmatch-test',
      resolve: async () => ['127.0.0.1'],
    });
    closers.push(() => guarded.close());
    const rpc = createRpcClient({ fetch: guarded, attempts: 1 });
    const chain = {
      record: { chainId: 1 },
      endpoints: [
        sampleEndpoint(`http://stranger.example:${stranger.port}`, 'stranger'),
        sampleEndpoint(own.url, 'own'),
      ],
      local: false,
    };
    expect(await readDeployedCode(rpc, chain, ADDRESS)).toMatchObject({ endpoints: ['own'] });
    expect(stranger.calls).toEqual([]);
    await expect(readDeployedCode(rpc, chain, ADDRESS, { quorum: 2 })).rejects.toMatchObject({
      code: 'endpoints_disagree',
    });
  });
});

describe('Endpoints reading a creation', () => {
  interface Story {
    readonly contractAddress?: Hex | null;
    readonly to?: Hex | null;
    readonly input?: string;
    readonly block?: number;
    readonly trace?: unknown;
    readonly hash?: Hex;
    readonly status?: string;
    readonly sender?: Hex;
    /** Fields in which the receipt differs from the block. */
    readonly saidBlock?: number;
    readonly index?: number;
  }
  const tell = (story: Story = {}): Record<string, RpcMethod> => {
    const { contractAddress = ADDRESS, to = null, input = '0x600a', block = 90 } = story;
    const { hash = HASH, status = '0x1', sender = SENDER } = story;
    const { saidBlock = block, index = 3 } = story;
    const shared = { from: sender, to, blockHash: blockHash(block) };
    const methods: Record<string, RpcMethod> = {
      ...honest(),
      eth_getTransactionReceipt: () => ({
        ...shared,
        transactionHash: hash,
        transactionIndex: hex(index),
        blockNumber: hex(saidBlock),
        contractAddress,
        status,
      }),
      eth_getTransactionByHash: () => ({ ...shared, hash, input }),
    };
    if (story.trace !== undefined) methods.debug_traceTransaction = () => story.trace;
    return methods;
  };
  async function read(nodes: readonly Record<string, RpcMethod>[]): Promise<unknown> {
    const { rpc, chain } = await createNet(nodes);
    return readCreation(rpc, chain, ADDRESS, HASH);
  }
  const made = (creationCode: string): object => ({
    type: 'CALL',
    from: SENDER,
    to: FACTORY,
    input: '0x',
    calls: [{ type: 'CREATE', from: FACTORY, to: ADDRESS, input: creationCode }],
  });
  const byFactory = { to: FACTORY, contractAddress: null } as const;

  test('yield it if they agree', async () => {
    expect(await read([tell(), tell()])).toMatchObject({
      creation: {
        creationCode: Buffer.from('600a', 'hex'),
        blockNumber: 90,
        transactionIndex: 3,
        deployer: SENDER,
        endpoints: ['a', 'b'],
      },
    });
    const trace = made('0x0102');
    expect(
      await read([tell({ ...byFactory, trace }), tell({ ...byFactory, trace })]),
    ).toMatchObject({
      creation: {
        creationCode: Buffer.of(1, 2),
        deployer: FACTORY,
        sender: SENDER,
        method: 'trace',
      },
    });
  });

  test('yield none if they differ in any detail, and are outvoted by two that agree', async () => {
    const other = tell({ input: '0x600b' });
    const lies = [
      ...[other, tell({ block: 91 }), tell({ sender: FACTORY })],
      ...[tell({ saidBlock: 91 }), tell({ index: 4 })],
    ];
    for (const lie of lies) {
      expect(await read([tell(), lie])).toMatchObject({ reason: 'endpoints_disagree' });
      expect(await read([lie, tell(), tell()])).toMatchObject({
        creation: { endpoints: ['b', 'c'] },
      });
    }
    const trace = made('0x0102');
    expect(
      await read([tell({ ...byFactory, trace }), tell({ ...byFactory, trace: made('0x0103') })]),
    ).toMatchObject({ reason: 'endpoints_disagree' });
  });

  test('do not confirm a transaction known to only one of them', async () => {
    const unknown = { ...tell(), eth_getTransactionReceipt: () => null };
    expect(await read([tell(), unknown])).toMatchObject({ reason: 'not_confirmed' });
    expect(await read([unknown, unknown])).toMatchObject({ reason: 'transaction_not_found' });
  });

  test('cannot confirm a factory creation without traces', async () => {
    expect(await read([tell(byFactory), tell(byFactory)])).toMatchObject({
      reason: 'traces_unavailable',
    });
    expect(await read([tell({ ...byFactory, trace: { type: 'CALL' } })])).toMatchObject({
      reason: 'traces_unavailable',
    });
  });

  test('stop after two deny it', async () => {
    const denial = tell({ ...byFactory, trace: { ...made('0x'), calls: [] } });
    const { rpc, chain, servers } = await createNet([denial, denial, tell()]);
    expect(await readCreation(rpc, chain, ADDRESS, HASH)).toMatchObject({
      reason: 'created_nothing_here',
    });
    expect(servers[2]?.calls).toEqual([]);
    expect(await read([tell({ status: '0x0' }), tell({ status: '0x0' })])).toMatchObject({
      reason: 'transaction_failed',
    });
  });

  test('are skipped if they return another transaction', async () => {
    const another = tell({ hash: `0x${'78'.repeat(32)}` });
    expect(await read([another, tell(), tell()])).toMatchObject({
      creation: { endpoints: ['b', 'c'] },
    });
    expect(await read([another])).toMatchObject({ reason: 'cannot_fetch' });
    expect(await read([])).toMatchObject({ reason: 'cannot_fetch' });
  });
});
