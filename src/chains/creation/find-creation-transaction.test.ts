import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
import {
  callOf,
  createDeployer,
  type CreatedContract,
  type Deployer,
  DEPLOYMENT_KINDS,
  DEPLOYMENT_PROXY,
  needsTrace,
  word,
} from '../../../test/support/creation-deployments.ts';
import {
  type FilteringNode,
  type NodeFilter,
  startFilteringNode,
} from '../../../test/support/filtering-node.ts';
import { ANVIL, describeWith } from '../../../test/support/needs.ts';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { checksumAddress, type Hex } from '../../lib/hex.ts';
import { createRpcClient, type RpcClient } from '../rpc/rpc-client.ts';
import { type CreationSearch } from './creation-search.ts';
import { findCreationTransaction, type FindCreationOptions } from './find-creation-transaction.ts';
import { type ArchiveCapability, type SearchedChain } from './method-parts.ts';

const CHAIN_ID = 424_242;
const BLOCK_TRACES = ['trace_block', 'debug_traceBlockByNumber'];
const TRACES = [...BLOCK_TRACES, 'debug_traceTransaction', 'trace_transaction'];

describeWith([ANVIL], 'the search for a creation', () => {
  let anvil: Anvil;
  let node: FilteringNode;
  let guarded: GuardedFetch;
  let rpc: RpcClient;
  let chain: SearchedChain;
  let deployer: Deployer;

  beforeAll(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID });
    [deployer, node] = await Promise.all([createDeployer(anvil), startFilteringNode(anvil.url)]);
    guarded = createGuardedFetch({
      allowPrivate: [anvil.hostPort, node.hostPort, `a.example:${anvil.port}`],
      maxBytes: 1_000_000,
      deadlineMs: 10_000,
      maxRedirects: 0,
      userAgent: 'fullmatch-test',
      resolve: async () => ['127.0.0.1'],
    });
    rpc = createRpcClient({ fetch: guarded, attempts: 1 });
    chain = chainOf(node.url);
  });
  afterAll(async () => {
    await guarded.close();
    await node.close();
    await anvil.stop();
  });
  afterEach(() => {
    node.filter = {};
    node.calls.length = 0;
  });

  function chainOf(...urls: readonly string[]): SearchedChain {
    const endpoints = urls.map((url, index) => sampleEndpoint(url, `node-${index + 1}`));
    return { record: { chainId: CHAIN_ID }, local: true, endpoints };
  }
  function search(
    address: Hex,
    options: FindCreationOptions = {},
    filter: NodeFilter = {},
  ): Promise<CreationSearch> {
    node.filter = filter;
    return findCreationTransaction({ rpc, fetch: guarded }, chain, address, options);
  }
  const outcomesOf = ({ methods }: CreationSearch): Record<string, string> =>
    Object.fromEntries(methods.map(({ method, outcome }) => [method, outcome]));
  /** Mines blocks, so that the head is past the creation. */
  const mine = (blocks: number): Promise<unknown> =>
    anvil.request('anvil_mine', [`0x${blocks.toString(16)}`]);

  describe.each(DEPLOYMENT_KINDS)('for a contract created by: %s', (kind) => {
    let made: CreatedContract;
    beforeAll(async () => {
      made = await deployer.deploy(kind);
      await mine(7);
    });

    test.each([
      ['submitted_hash', {}],
      ['contract_creator', {}],
      ['binary_search', {}],
      ['binary_search', { hides: ['trace_block'] }],
      ['binary_search', { hides: ['debug_traceBlockByNumber', 'debug_traceTransaction'] }],
      ['binary_search', { hides: BLOCK_TRACES }],
      ['binary_search', { hides: ['eth_getBlockReceipts', ...BLOCK_TRACES] }],
    ] as const)('succeeds by %s on a node with %j', async (method, filter) => {
      const found = await search(
        checksumAddress(made.address),
        { methods: [method], submitted: made.transactionHash },
        filter,
      );
      expect(found.creation).toMatchObject({ transactionHash: made.transactionHash });
      expect(found.methods).toMatchObject([
        { method, outcome: 'found', transactionHash: made.transactionHash },
      ]);
    });

    test('needs traces only if the transaction itself does not show the creation', async () => {
      const found = await search(made.address, { methods: ['binary_search'] }, { hides: TRACES });
      expect(outcomesOf(found)).toEqual({
        binary_search: needsTrace(kind) ? 'traces_unavailable' : 'found',
      });
    });
  });

  test('finds the transaction among others in its block', async () => {
    await anvil.request('evm_setAutomine', [false]);
    const sent: Hex[] = [];
    const send = async (call: object): Promise<void> => {
      sent.push(
        await anvil.request<Hex>('eth_sendTransaction', [
          { from: anvil.account, gas: '0x989680', ...call },
        ]),
      );
    };
    const data = `0x${deployer.contracts.Child}${word(77)}`;
    await send({ data });
    await send({ data });
    await send({ to: deployer.factory, data: callOf('tryToMake(uint256)', word(1)) });
    await send({ to: deployer.factory, data: callOf('make(uint256)', word(2)) });
    await send({ to: deployer.factory, data: callOf('make(uint256)', word(3)) });
    await send({ to: anvil.account });
    await anvil.request('evm_setAutomine', [true]);
    await mine(3);
    type Trace = readonly { readonly type: string; readonly result?: { readonly address?: Hex } }[];
    for (const hash of [sent[0], sent[1], sent[3], sent[4]]) {
      const trace = await anvil.request<Trace>('trace_transaction', [hash]);
      const address = trace.findLast(({ type }) => type === 'create')?.result?.address;
      for (const hides of [[], ['trace_block'], BLOCK_TRACES, ['eth_getBlockReceipts']]) {
        const found = await search(address!, { methods: ['binary_search'] }, { hides });
        expect(found.creation?.transactionHash).toBe(hash);
      }
    }
  });

  test('tries the methods in order and stops at the first success', async () => {
    const made = await deployer.deploy('factory');
    const other = await deployer.deploy('factory');
    const found = await search(made.address, { submitted: other.transactionHash });
    expect(found.creation?.transactionHash).toBe(made.transactionHash);
    expect(found.methods).toMatchObject([
      {
        method: 'submitted_hash',
        outcome: 'created_nothing_here',
        transactionHash: other.transactionHash,
      },
      { method: 'contract_creator', outcome: 'found' },
      { method: 'binary_search', outcome: 'not_needed', durationMs: 0 },
      { method: 'explorer_page', outcome: 'not_needed' },
    ]);
    const without = await search(made.address, {}, { hides: ['ots_getContractCreator'] });
    expect(outcomesOf(without)).toEqual({
      submitted_hash: 'not_given',
      contract_creator: 'not_supported',
      binary_search: 'found',
      explorer_page: 'not_needed',
    });
  });

  test("rejects a node's claim of a wrong transaction and checks none twice", async () => {
    const made = await deployer.deploy('factory');
    const other = await deployer.deploy('plain');
    const changes: NodeFilter['changes'] = (method, _params, result) =>
      method === 'ots_getContractCreator' ? { hash: other.transactionHash } : result;
    const found = await search(
      made.address,
      { submitted: other.transactionHash, methods: ['submitted_hash', 'contract_creator'] },
      { changes },
    );
    expect(found).not.toHaveProperty('creation');
    expect(outcomesOf(found)).toEqual({
      submitted_hash: 'created_nothing_here',
      contract_creator: 'created_nothing_here',
    });
    expect(node.calls.filter((method) => method === 'eth_getTransactionReceipt')).toHaveLength(1);
  });

  test('falls back to the next endpoint on refusal, missing data or outage', async () => {
    const made = await deployer.deploy('factory');
    const away = chainOf('http://127.0.0.1:1', node.url, `http://a.example:${anvil.port}`);
    const changes: NodeFilter['changes'] = (method, _params, result) =>
      method === 'ots_getContractCreator' ? null : result;
    node.filter = { changes };
    const found = await findCreationTransaction({ rpc, fetch: guarded }, away, made.address, {
      methods: ['contract_creator'],
      quorum: 1,
    });
    expect(found.methods).toMatchObject([{ outcome: 'found' }]);
    expect(found.methods[0]?.detail).toMatch(/^node-1: \w+, node-2: not_known, node-3: found$/);
  });

  test('reports at_genesis for code in the genesis block', async () => {
    const found = await search(DEPLOYMENT_PROXY, { methods: ['binary_search'] });
    expect(outcomesOf(found)).toEqual({ binary_search: 'at_genesis' });
  });

  test('reports no_code for an empty address', async () => {
    const found = await search(`0x${'12'.repeat(20)}`);
    expect(outcomesOf(found)).toMatchObject({ binary_search: 'no_code' });
    expect(found).not.toHaveProperty('creation');
  });

  test('finds late creations on a pruned node and reports early ones as unavailable', async () => {
    const early = await deployer.deploy('plain');
    await mine(20);
    const late = await deployer.deploy('plain');
    await mine(20);
    const head = Number(await anvil.request<string>('eth_blockNumber'));
    const changes: NodeFilter['changes'] = (method, [, block], result) =>
      method === 'eth_getCode' && Number(block) < head - 30
        ? new Error('missing trie node')
        : result;
    const options = { methods: ['binary_search'] } as const;
    expect(outcomesOf(await search(late.address, options, { changes }))).toEqual({
      binary_search: 'found',
    });
    expect(outcomesOf(await search(early.address, options, { changes }))).toEqual({
      binary_search: 'no_archive',
    });
  });

  test('bisects at an endpoint known to be an archive node, if there is one', async () => {
    const { address } = await deployer.deploy('plain');
    const two = chainOf(node.url, `http://a.example:${anvil.port}`);
    const archive: ArchiveCapability = (_chainId, { label }) => (label === 'node-2' ? 'yes' : 'no');
    const found = await findCreationTransaction({ rpc, fetch: guarded, archive }, two, address, {
      methods: ['binary_search'],
      quorum: 1,
    });
    expect(found.methods[0]?.detail).toMatch(/^node-2: found/);
  });

  test('is not misled by a node that returns empty code for pruned states', async () => {
    const { address } = await deployer.deploy('factory');
    await mine(20);
    const head = Number(await anvil.request<string>('eth_blockNumber'));
    const changes: NodeFilter['changes'] = (method, [, block], result) =>
      method === 'eth_getCode' && Number(block) < head - 5 ? '0x' : result;
    const found = await search(address, { methods: ['binary_search'] }, { changes });
    expect(outcomesOf(found)).toEqual({ binary_search: 'not_in_block' });
  });

  test('finds the latest creation of a contract that was destroyed and recreated', async () => {
    const data = callOf('makeBySalt(uint256,bytes32)', word(5), word(5));
    const answer = await anvil.request<string>('eth_call', [{ to: deployer.factory, data }]);
    const address: Hex = `0x${answer.slice(-40)}`;
    const first = await anvil.send({ to: deployer.factory, data });
    await mine(10);
    await anvil.request('anvil_setCode', [address, '0x']);
    await anvil.request('anvil_setNonce', [address, '0x0']);
    await mine(40);
    const second = await anvil.send({ to: deployer.factory, data });
    await mine(10);
    expect(second.status).toBe('0x1');
    expect(second.transactionHash).not.toBe(first.transactionHash);
    const found = await search(address, { methods: ['binary_search'] });
    expect(found.creation?.transactionHash).toBe(second.transactionHash);
  });

  test('retries if the block is replaced while it is read', async () => {
    const { address, transactionHash } = await deployer.deploy('factory');
    let replaced = 0;
    const changes: NodeFilter['changes'] = (method, params, result) => {
      // The first time the block is returned without its transactions, under another hash.
      if (method !== 'eth_getBlockByNumber' || params[1] !== true || replaced > 0) return result;
      replaced += 1;
      return { ...(result as object), hash: `0x${'0b'.repeat(32)}`, transactions: [] };
    };
    const hides = BLOCK_TRACES;
    const found = await search(address, { methods: ['binary_search'] }, { changes, hides });
    expect(replaced).toBe(1);
    expect(found.creation?.transactionHash).toBe(transactionHash);
    const never: NodeFilter['changes'] = (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[1] === true
        ? { ...(result as object), hash: `0x${'0b'.repeat(32)}`, transactions: [] }
        : result;
    const lost = await search(address, { methods: ['binary_search'] }, { changes: never, hides });
    expect(outcomesOf(lost)).toEqual({ binary_search: 'reorganised' });
  });

  test('stops each method at its time and request limits', async () => {
    const { address } = await deployer.deploy('factory');
    const hides = ['ots_getContractCreator'];
    const limited = await search(
      address,
      { limits: { binary_search: { timeMs: 10_000, requests: 4 } } },
      { hides },
    );
    expect(outcomesOf(limited)).toMatchObject({ binary_search: 'request_limit' });
    const late = await search(
      address,
      { limits: { binary_search: { timeMs: 0, requests: 500 } } },
      { hides },
    );
    expect(outcomesOf(late)).toMatchObject({
      binary_search: 'deadline_exceeded',
      explorer_page: 'not_configured',
    });
  });

  test("rejects with the caller's abort reason", async () => {
    const { address } = await deployer.deploy('plain');
    const reason = new Error('enough');
    await expect(search(address, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('reports not_configured for a chain without endpoints', async () => {
    const none = await findCreationTransaction(
      { rpc, fetch: guarded },
      chainOf(),
      `0x${'12'.repeat(20)}`,
    );
    expect(outcomesOf(none)).toEqual({
      submitted_hash: 'not_given',
      contract_creator: 'not_configured',
      binary_search: 'not_configured',
      explorer_page: 'not_configured',
    });
  });
});
