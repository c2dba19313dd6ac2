import { type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { sql } from '../src/store/database.ts';
import { startAnvil, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { mirrorOf } from './support/node-mirrors.ts';
import { type RpcMethod, startRpcServer } from './support/rpc-server.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { verifyOverV2, type WireJob } from './support/verification-client.ts';
import {
  bodyOfSample,
  deploySample,
  readContract,
  readStatistics,
  suiteContract,
} from './support/verifying-service.ts';

const VERSION = '0.8.37';
/** Appears in the path of each endpoint, which must stay private to the service. */
const CANARY = 'canary-key-of-the-endpoint';
/** Host names of this machine: endpoints on different hosts count as independent. */
const HOSTS = ['127.0.0.1', 'localhost'];

interface Block {
  readonly number: Hex;
  readonly hash: Hex;
  readonly timestamp: Hex;
}
type Methods = Record<string, RpcMethod>;

let anvil: Anvil;
let testDatabase: TestDatabase;
let service: BootedService;
let contract: { address: Hex; transactionHash: Hex };
let other: { address: Hex; transactionHash: Hex };
const closers: (() => Promise<void>)[] = [];

const everyAnswer = (answer: RpcMethod): Methods =>
  Object.fromEntries(
    ['eth_chainId', 'eth_getBlockByNumber', 'eth_getCode'].map((name) => [name, answer]),
  );
const html: RpcMethod = (_params, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>Sign in</title>');
};
/** Sends a byte every tenth of a second, for ever. */
const drip: RpcMethod = (_params, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 100);
  response.once('close', () => clearInterval(timer));
};
const unavailable: RpcMethod = (_params, response) => {
  response.writeHead(503, { 'content-type': 'text/plain' });
  response.end('upstream connect error');
};
const halfOfJson: RpcMethod = (_params, response) => {
  response.end('{"jsonrpc":"2.0","id":1,"resu');
};
const blockOf = (tag: string): Promise<Block> =>
  anvil.request<Block>('eth_getBlockByNumber', [tag, false]);
const before = (block: Block, blocks: number): string =>
  `0x${(Number(block.number) - blocks).toString(16)}`;
/** Responds to `latest` with an older block, modified by `change`. */
const withHead =
  (blocks: number, change: (block: Block) => object = (block) => block): RpcMethod =>
  async ([tag]) => {
    const head = await blockOf('latest');
    if (tag !== 'latest') return blockOf(String(tag));
    return change(await blockOf(before(head, blocks)));
  };
const hourOlder = (block: Block): object => ({
  ...block,
  timestamp: `0x${(Number(block.timestamp) - 3600).toString(16)}`,
});

/** Faults of a chain's endpoints; `null` is an endpoint without a listener. */
interface Case {
  readonly title: string;
  readonly quorum?: 2;
  /** Responses of each endpoint that differ from the node's. */
  readonly faults: readonly (Methods | null)[];
  /** The reason in the job's data, if any. */
  readonly reason?: string;
  /** The job's error code, if it is not cannot_fetch_bytecode. */
  readonly code?: string;
}
const CASES: readonly Case[] = [
  { title: 'returns other bytecode', quorum: 2, faults: [{}, { eth_getCode: () => '0xdead' }] },
  { title: 'returns no bytecode', quorum: 2, faults: [{}, { eth_getCode: () => '0x' }] },
  {
    title: 'is on a fork',
    quorum: 2,
    faults: [
      {},
      {
        eth_getBlockByNumber: withHead(0, (block) => ({ ...block, hash: `0x${'ee'.repeat(32)}` })),
      },
    ],
  },
  {
    title: 'is stale',
    quorum: 2,
    faults: [
      {},
      {
        eth_getBlockByNumber: withHead(5, hourOlder),
        eth_getBlockByHash: () => null,
        eth_getCode: () => '0x',
      },
    ],
    reason: 'stale',
  },
  {
    title: 'has not seen the block of the deployment',
    quorum: 2,
    faults: [{}, { eth_getBlockByNumber: withHead(1), eth_getBlockByHash: () => null }],
    reason: 'behind',
  },
  { title: 'is the only one where two are required', quorum: 2, faults: [{}] },
  {
    title: 'belongs to another chain',
    faults: [{ eth_chainId: () => '0x1' }],
    reason: 'wrong_chain',
  },
  {
    title: 'belongs to another chain, next to one that does not',
    quorum: 2,
    faults: [{}, { eth_chainId: () => '0x1' }],
    reason: 'wrong_chain',
  },
  {
    title: 'is still syncing and returns no bytecode',
    faults: [{ eth_getCode: () => '0x', eth_syncing: () => ({ currentBlock: '0x1' }) }],
    reason: 'syncing',
  },
  { title: 'drips', faults: [everyAnswer(drip)], reason: 'deadline_exceeded' },
  { title: 'drips the bytecode', faults: [{ eth_getCode: drip }], reason: 'deadline_exceeded' },
  {
    title: 'returns an HTML page with status 200',
    faults: [everyAnswer(html)],
    reason: 'rpc_invalid_answer',
  },
  { title: 'returns an HTML page for the bytecode', faults: [{ eth_getCode: html }] },
  { title: 'returns truncated JSON', faults: [everyAnswer(halfOfJson)] },
  { title: 'is unavailable', faults: [everyAnswer(unavailable)], reason: 'status_503' },
  { title: 'refuses connections', faults: [null], reason: 'connection_failed' },
  { title: 'returns bytecode that is not hex', faults: [{ eth_getCode: () => '0xzz' }] },
  { title: 'returns null for the bytecode', faults: [{ eth_getCode: () => null }] },
  {
    title: 'returns more bytecode than any chain allows',
    faults: [{ eth_getCode: () => `0x${'00'.repeat(5_000_000)}` }],
    code: 'code_too_large',
  },
];
/** No process listens here; a port that was closed may be given to the next server. */
const REFUSED_PORT = 1;
const FIRST_CHAIN = 500_000;
/** Two honest endpoints. */
const HONEST = FIRST_CHAIN + CASES.length;
/** Two endpoints, one of which lies about the creation of contracts. */
const LIES_ON_ADDRESS = HONEST + 1;
const LIES_ON_CODE = HONEST + 2;

/**
 * Starts the endpoints of a chain.
 * @returns its configuration entry.
 */
async function startChain(
  chainId: number,
  { quorum, faults }: Pick<Case, 'quorum' | 'faults'>,
): Promise<string> {
  const urls: string[] = [];
  for (const [index, fault] of faults.entries()) {
    let port = REFUSED_PORT;
    if (fault !== null) {
      const server = await startRpcServer({ ...mirrorOf(anvil, chainId), ...fault });
      closers.push(server.close);
      port = server.port;
    }
    urls.push(`http://${HOSTS[index] ?? ''}:${port}/${CANARY}`);
  }
  return `
  ${chainId}:
    name: Chain ${chainId}
    local: true
    ${quorum === undefined ? '' : `quorum: ${quorum}`}
    rpc: []
    privateRpc: [${urls.join(', ')}]`;
}

async function startAll(): Promise<void> {
  const sample = await suiteContract(VERSION, 'Arguments');
  await anvil.request('anvil_mine', ['0xa']);
  other = await deploySample(anvil, sample);
  // The last block is the contract's.
  contract = await deploySample(anvil, sample);
  const truth = { quorum: 2 as const, faults: [{}, {}] };
  const receiptOf = (hash: Hex): Promise<object> =>
    anvil.request<object>('eth_getTransactionReceipt', [hash]);
  const liarOnAddress: Methods = {
    eth_getTransactionReceipt: async ([hash]) => ({
      ...(await receiptOf(hash as Hex)),
      contractAddress: contract.address,
    }),
  };
  const liarOnCode: Methods = {
    eth_getTransactionByHash: async ([hash]) => {
      const sent = await anvil.request<{ input: string }>('eth_getTransactionByHash', [hash]);
      return { ...sent, input: `${sent.input}00` };
    },
  };
  const entries = await Promise.all([
    ...CASES.map((each, index) => startChain(FIRST_CHAIN + index, each)),
    startChain(HONEST, truth),
    startChain(LIES_ON_ADDRESS, { quorum: 2, faults: [{}, liarOnAddress] }),
    startChain(LIES_ON_CODE, { quorum: 2, faults: [{}, liarOnCode] }),
  ]);
  const yaml = `
registry: { include: configured, defaults: false }
verification: { workers: ${CASES.length} }
chains:${entries.join('')}
`;
  service = await bootService({ databaseUrl: testDatabase.url, yaml });
}

async function verify(
  chainId: number,
  address: string = contract.address,
  more: object = {},
): Promise<WireJob> {
  const body = bodyOfSample(await suiteContract(VERSION, 'Arguments'), more);
  return verifyOverV2(service.apiUrl, address, body, chainId);
}

async function countRows(): Promise<unknown> {
  return testDatabase.database.query(
    sql(
      'test stored rows',
      `SELECT (SELECT count(*)::int FROM contract_deployments) AS deployments,
         (SELECT count(*)::int FROM compiled_contracts) AS compilations,
         (SELECT count(*)::int FROM code) AS codes,
         (SELECT count(*)::int FROM match_events) AS events`,
    ),
  );
}

describeWith([ANVIL], 'untrustworthy endpoints', () => {
  let jobs: readonly WireJob[];
  let storedBefore: unknown;
  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([createTestDatabase(), startAnvil()]);
    await startAll();
    storedBefore = await countRows();
    // In parallel: a dripping endpoint uses its full timeout.
    jobs = await Promise.all(CASES.map((_case, index) => verify(FIRST_CHAIN + index)));
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(closers.map((close) => close()));
    await anvil.stop();
    await testDatabase.drop();
  });

  test.each(CASES.map((each, index) => ({ ...each, index })))(
    'an endpoint that $title: the job reports unreadable bytecode and nothing about the contract',
    async ({ index, reason, code = 'cannot_fetch_bytecode' }) => {
      const job = jobs[index];
      expect(job?.error).toMatchObject({ customCode: code });
      expect(job?.contract).toMatchObject({ match: null, runtimeMatch: null });
      const told = JSON.stringify(job);
      if (reason !== undefined) expect(told).toContain(`"${reason}"`);
      expect(told).not.toContain(CANARY);
      const { match } = await readContract(service, FIRST_CHAIN + index, contract.address);
      expect(match).toBeNull();
    },
  );

  test('store and count nothing, and no log line contains a key', async () => {
    expect(await countRows()).toEqual(storedBefore);
    expect(await readStatistics(service)).toBe('{}');
    expect(service.logText()).not.toContain(CANARY);
  });

  test('two agreeing endpoints decide whether and what is deployed', async () => {
    const nowhere = await verify(HONEST, `0x${'12'.repeat(20)}`);
    expect(nowhere.error).toMatchObject({ customCode: 'contract_not_deployed' });
    const { transactionHash } = contract;
    const job = await verify(HONEST, contract.address, {
      creationTransactionHash: transactionHash,
    });
    expect(job.contract).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
    await expect
      .poll(async () => JSON.parse(await readStatistics(service)) as unknown)
      .toEqual({ [HONEST]: { full_match: 1, partial_match: 0 } });
  });

  test.each([
    ["reports another contract's transaction as the creation", LIES_ON_ADDRESS, 'other'],
    ['returns other creation bytecode', LIES_ON_CODE, 'own'],
  ])('an endpoint that %s leaves no trace of the creation', async (_what, chainId, which) => {
    const { transactionHash } = which === 'own' ? contract : other;
    const more = { creationTransactionHash: transactionHash };
    const job = await verify(chainId, contract.address, more);
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    const stored = await readContract(service, chainId, contract.address);
    expect(JSON.stringify(stored)).not.toContain(transactionHash.slice(2));
    expect(stored.deployment).toMatchObject({ transactionHash: null, deployer: null });
    expect(stored.creationBytecode.onchainBytecode).toBeNull();
  });
});
