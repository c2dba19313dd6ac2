import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
import {
  compileCreationContracts,
  type CreationContracts,
} from '../../../test/support/creation-contracts.ts';
import { ANVIL, describeWith } from '../../../test/support/needs.ts';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { type RpcChain } from './rpc-chain.ts';
import { computeCreate2Address } from './contract-address.ts';
import { type Creation, readCreation } from './creation.ts';
import { readDeployedCode } from './deployed-code.ts';
import { createRpcClient, type RpcClient } from './rpc-client.ts';

const CHAIN_ID = 424_242;
const PROXY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const selector = (signature: string): string =>
  Buffer.from(keccak256(Buffer.from(signature)).subarray(0, 4)).toString('hex');

describeWith([ANVIL], 'a real node', () => {
  let anvil: Anvil;
  let other: Anvil;
  let contracts: CreationContracts;
  let guarded: GuardedFetch;
  let rpc: RpcClient;
  let chain: RpcChain;
  let factory: Hex;

  beforeAll(async () => {
    [anvil, other, contracts] = await Promise.all([
      startAnvil({ chainId: CHAIN_ID }),
      startAnvil({ chainId: 1 }),
      compileCreationContracts(),
    ]);
    guarded = createGuardedFetch({
      allowPrivate: [anvil.hostPort, other.hostPort, `a.example:${anvil.port}`],
      maxBytes: 1_000_000,
      deadlineMs: 10_000,
      maxRedirects: 0,
      userAgent: 'fullmatch-test',
      resolve: async () => ['127.0.0.1'],
    });
    rpc = createRpcClient({ fetch: guarded });
    chain = {
      record: { chainId: CHAIN_ID },
      endpoints: [sampleEndpoint(anvil.url, 'node')],
      local: true,
    };
    factory = (await anvil.send({ data: `0x${contracts.Factory}` })).contractAddress!;
  });

  afterAll(async () => {
    await guarded?.close();
    await anvil?.stop();
    await other?.stop();
  });

  async function creationOf(address: Hex, transactionHash: Hex): Promise<Creation> {
    const reading = await readCreation(rpc, chain, address, transactionHash);
    if (reading.creation === undefined) throw new Error(reading.reason);
    return reading.creation;
  }

  async function childOf(call: string): Promise<{ child: Hex; hash: Hex }> {
    // What a call would create now is what the transaction then creates.
    const child = await anvil.request<Hex>('eth_call', [{ to: factory, data: call }]);
    const sent = await anvil.send({ to: factory, data: call });
    return { child: `0x${child.slice(-40)}`, hash: sent.transactionHash };
  }

  test('reads code at a specific block', async () => {
    const sent = await anvil.send({ data: `0x${contracts.Child}${word(7)}` });
    const address = sent.contractAddress!;
    const read = await readDeployedCode(rpc, chain, address);
    expect(bytesToHex(read.code)).toBe(await anvil.request('eth_getCode', [address, 'latest']));
    expect(read.code.length).toBeGreaterThan(100);
    expect(read).toMatchObject({
      blockNumber: Number(sent.blockNumber),
      blockHash: sent.blockHash,
      endpoints: ['node'],
    });
    await expect(
      readDeployedCode(rpc, chain, address, { blockTag: Number(sent.blockNumber) - 1 }),
    ).rejects.toMatchObject({ code: 'contract_not_deployed' });
  });

  test('works over WebSocket', async () => {
    const sent = await anvil.send({ data: `0x${contracts.Child}${word(8)}` });
    const socket = { ...chain, endpoints: [sampleEndpoint(`ws://127.0.0.1:${anvil.port}`, 'ws')] };
    const read = await readDeployedCode(rpc, socket, sent.contractAddress!);
    expect(read).toMatchObject({ blockHash: sent.blockHash, endpoints: ['ws'] });
    const reading = await readCreation(rpc, socket, sent.contractAddress!, sent.transactionHash);
    expect(reading.creation).toMatchObject({ method: 'transaction', endpoints: ['ws'] });
  });

  test('counts two names of one node as two endpoints if a quorum of two is required', async () => {
    const two = {
      ...chain,
      endpoints: [...chain.endpoints, sampleEndpoint(`http://a.example:${anvil.port}`, 'a')],
    };
    const read = await readDeployedCode(rpc, two, factory, { quorum: 2 });
    expect(read.endpoints).toEqual(['node', 'a']);
  });

  test('reports not deployed only if the node confirms it', async () => {
    const nowhere: Hex = `0x${'12'.repeat(20)}`;
    await expect(readDeployedCode(rpc, chain, nowhere)).rejects.toMatchObject({
      code: 'contract_not_deployed',
    });
    const wrong = { ...chain, endpoints: [sampleEndpoint(other.url, 'wrong')] };
    await expect(readDeployedCode(rpc, wrong, nowhere)).rejects.toMatchObject({
      code: 'cannot_fetch_bytecode',
      details: { endpoints: [{ endpoint: 'wrong', reason: 'wrong_chain' }] },
    });
  });

  test('finds a creation by an ordinary transaction', async () => {
    const code = `0x${contracts.Child}${word(7)}`;
    const sent = await anvil.send({ data: code });
    const creation = await creationOf(sent.contractAddress!, sent.transactionHash);
    expect(bytesToHex(creation.creationCode)).toBe(code);
    expect(creation).toMatchObject({
      method: 'transaction',
      transactionHash: sent.transactionHash,
      blockNumber: Number(sent.blockNumber),
      blockHash: sent.blockHash,
      transactionIndex: 0,
      deployer: anvil.account.toLowerCase(),
      sender: anvil.account.toLowerCase(),
      endpoints: ['node'],
    });
  });

  test('finds a creation by a factory', async () => {
    const { child, hash } = await childOf(`0x${selector('make(uint256)')}${word(9)}`);
    const creation = await creationOf(child, hash);
    expect(bytesToHex(creation.creationCode)).toBe(`0x${contracts.Child}${word(9)}`);
    expect(creation).toMatchObject({
      method: 'trace',
      deployer: factory,
      sender: anvil.account.toLowerCase(),
    });
  });

  test('finds a creation by a factory using CREATE2', async () => {
    const call = `0x${selector('makeBySalt(uint256,bytes32)')}${word(9)}${word(1)}`;
    const { child, hash } = await childOf(call);
    const code = Buffer.from(`${contracts.Child}${word(9)}`, 'hex');
    expect(child).toBe(computeCreate2Address(factory, Buffer.from(word(1), 'hex'), code));
    const creation = await creationOf(child, hash);
    expect(bytesToHex(creation.creationCode)).toBe(bytesToHex(code));
    expect(creation).toMatchObject({ method: 'trace', deployer: factory });
  });

  test('finds a creation by the deterministic deployment proxy without a trace', async () => {
    const code = `${contracts.Child}${word(3)}`;
    const salt = word(0xbeef);
    const address = computeCreate2Address(
      PROXY,
      Buffer.from(salt, 'hex'),
      Buffer.from(code, 'hex'),
    );
    const sent = await anvil.send({ to: PROXY, data: `0x${salt}${code}` });
    const creation = await creationOf(address, sent.transactionHash);
    expect(bytesToHex(creation.creationCode)).toBe(`0x${code}`);
    expect(creation).toMatchObject({ method: 'proxy', deployer: PROXY });
    expect((await readDeployedCode(rpc, chain, address)).code.length).toBeGreaterThan(0);
  });

  test.each([
    ['calls a factory', true],
    ['makes a contract itself', false],
  ])('finds both parent and child if the constructor %s', async (_what, byFactory) => {
    const from = byFactory ? factory.slice(2).padStart(64, '0') : word(0);
    const code = `0x${contracts.Parent}${from}${word(5)}`;
    const sent = await anvil.send({ data: code });
    const parent = sent.contractAddress!;
    const slot = await anvil.request<Hex>('eth_getStorageAt', [parent, '0x0', 'latest']);
    const child: Hex = `0x${slot.slice(-40)}`;
    expect(bytesToHex((await creationOf(parent, sent.transactionHash)).creationCode)).toBe(code);
    const creation = await creationOf(child, sent.transactionHash);
    expect(bytesToHex(creation.creationCode)).toBe(`0x${contracts.Child}${word(5)}`);
    expect(creation).toMatchObject({ method: 'trace', deployer: byFactory ? factory : parent });
  });

  test('finds a creation with trace_transaction alone', async () => {
    const { child, hash } = await childOf(`0x${selector('make(uint256)')}${word(11)}`);
    const flatOnly: RpcClient = {
      ...rpc,
      ask: (asked, endpoint, request, options) =>
        rpc.ask(
          asked,
          endpoint,
          request.method === 'debug_traceTransaction' ? { ...request, method: 'no_such' } : request,
          options,
        ),
      askAny: rpc.askAny.bind(rpc),
    };
    const { creation } = await readCreation(flatOnly, chain, child, hash);
    expect(creation).toMatchObject({ method: 'trace', deployer: factory });
    expect(bytesToHex(creation!.creationCode)).toBe(`0x${contracts.Child}${word(11)}`);
  });

  test('rejects transactions that did not create the contract', async () => {
    const deployed = await anvil.send({ data: `0x${contracts.Child}${word(1)}` });
    const address = deployed.contractAddress!;
    const another = await anvil.send({ data: `0x${contracts.Child}${word(1)}` });
    const call = await anvil.send({ to: address, data: `0x${selector('value()')}` });
    const reverted = await anvil.send({
      to: factory,
      data: `0x${selector('tryToMake(uint256)')}${word(1)}`,
    });
    const failed = await anvil.send({ data: '0xfe' });
    const nonce = await anvil.request<Hex>('eth_getTransactionCount', [factory, 'latest']);
    expect(Number(nonce)).toBeGreaterThan(0);
    for (const [hash, reason] of [
      [another.transactionHash, 'created_nothing_here'],
      [call.transactionHash, 'created_nothing_here'],
      [reverted.transactionHash, 'created_nothing_here'],
      [failed.transactionHash, 'transaction_failed'],
      [`0x${'00'.repeat(32)}`, 'transaction_not_found'],
    ] as const) {
      const reading = await readCreation(rpc, chain, address, hash);
      expect([hash, reading]).toMatchObject([hash, { creation: undefined, reason }]);
    }
  });

  test('rejects a reverted creation', async () => {
    const call = `0x${selector('tryToMake(uint256)')}${word(1)}`;
    const sent = await anvil.send({ to: factory, data: call });
    const trace = await anvil.request<unknown>('debug_traceTransaction', [
      sent.transactionHash,
      { tracer: 'callTracer' },
    ]);
    const made =
      /"to":"(0x[0-9a-f]{40})"[^{}]*"type":"CREATE"|"type":"CREATE"[^{}]*"to":"(0x[0-9a-f]{40})"/.exec(
        JSON.stringify(trace),
      );
    const address = (made?.[1] ?? made?.[2]) as Hex | undefined;
    expect(address).toBeDefined();
    const reading = await readCreation(rpc, chain, address!, sent.transactionHash);
    expect(reading).toMatchObject({ creation: undefined, reason: 'created_nothing_here' });
  });
});
