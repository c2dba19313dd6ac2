import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
import { DEPLOYMENT_PROXY, word } from '../../../test/support/creation-deployments.ts';
import {
  type FilteringNode,
  type NodeFilter,
  startFilteringNode,
} from '../../../test/support/filtering-node.ts';
import { ANVIL, describeWith } from '../../../test/support/needs.ts';
import {
  createReplaceableContracts,
  type ReplaceableContracts,
} from '../../../test/support/replaceable-contracts.ts';
import { sampleEndpoint } from '../../../test/support/rpc-server.ts';
import { createGuardedFetch, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { bytesToHex, hexToBytes, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { computeCreate2Address } from './contract-address.ts';
import { type CreationRefusal, readCreation } from './creation.ts';
import { sampleBlocks } from './creation-proof.ts';
import { createRpcClient } from './rpc-client.ts';

const CHAIN_ID = 424_242;
const TRACES = ['debug_traceTransaction', 'trace_transaction'];
/** CALLER SELFDESTRUCT, and what returns it. */
const MORTAL: Hex = '0x33ff';
const MAKE_MORTAL: Hex = '0x6133ff6000526002601ef3';
/** The same behind PUSH0 POP: other creation code, the same runtime code. */
const MAKE_MORTAL_OTHERWISE: Hex = '0x5f506133ff6000526002601ef3';
/** STOP STOP, which nothing can destroy. */
const LASTING: Hex = '0x0000';
const MAKE_LASTING = '60026000f3';
const DEPLOY_PROXY = `0x6045600c60003960456000f37f${'ff'.repeat(31)}e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3`;

/** The address that an account gives with one of its first nonces. */
function addressOfNonce(account: Hex, nonce: number): Hex {
  const encoded =
    nonce === 0 ? Buffer.of(0x80) : Buffer.of(...(nonce < 0x80 ? [nonce] : [0x81, nonce]));
  const head = Buffer.of(0xc0 + 21 + encoded.length, 0x94);
  return bytesToHex(keccak256(Buffer.concat([head, hexToBytes(account), encoded])).subarray(12));
}

/** A node that keeps the state of its newest block only. */
const withoutStates: NonNullable<NodeFilter['changes']> = (method, [, at], result) =>
  method === 'eth_getCode' && at !== 'latest' ? new Error('missing trie node') : result;

describeWith([ANVIL], 'the proof of a creation', () => {
  let guarded: GuardedFetch;
  const nodes: FilteringNode[] = [];
  const anvils: Anvil[] = [];

  interface Chain {
    readonly anvil: Anvil;
    readonly node: FilteringNode;
    readonly contracts: ReplaceableContracts;
    /** `found`, or why the transaction is refused. */
    readonly read: (
      address: Hex,
      hash: Hex,
      filter?: NodeFilter,
    ) => Promise<CreationRefusal | 'found'>;
  }
  let old: Chain;
  let present: Chain;

  async function startChain(hardfork?: 'shanghai'): Promise<Chain> {
    const anvil = await startAnvil({ chainId: CHAIN_ID, ...(hardfork && { hardfork }) });
    const node = await startFilteringNode(anvil.url);
    anvils.push(anvil);
    nodes.push(node);
    const contracts = await createReplaceableContracts(anvil);
    const chain = {
      record: { chainId: CHAIN_ID },
      endpoints: [sampleEndpoint(node.url, 'node')],
      local: true,
    };
    return {
      anvil,
      node,
      contracts,
      read: async (address, hash, filter = {}) => {
        node.filter = filter;
        const rpc = createRpcClient({ fetch: guarded, attempts: 1 });
        const code = await anvil.request<Hex>('eth_getCode', [address, 'latest']);
        const head = await anvil.request<Hex>('eth_blockNumber');
        const running = { code: Buffer.from(code.slice(2), 'hex'), blockNumber: Number(head) };
        const reading = await readCreation(rpc, chain, address, hash, { running });
        return reading.creation === undefined ? reading.reason : 'found';
      },
    };
  }

  beforeAll(async () => {
    [old, present] = await Promise.all([startChain('shanghai'), startChain()]);
    guarded = createGuardedFetch({
      allowPrivate: nodes.map(({ hostPort }) => hostPort),
      maxBytes: 1_000_000,
      deadlineMs: 10_000,
      maxRedirects: 0,
      userAgent: 'fullmatch-test',
    });
  });
  afterAll(async () => {
    await guarded.close();
    await Promise.all(
      [...nodes, ...anvils].map((each) => ('stop' in each ? each.stop() : each.close())),
    );
  });
  afterEach(() => {
    for (const node of nodes) node.filter = {};
  });

  test('fails if the code was replaced later', async () => {
    const { anvil, contracts, read } = old;
    const first = await contracts.makeMetamorphic(MORTAL);
    expect(await read(contracts.metamorphic, first.transactionHash)).toBe('found');
    await contracts.call(contracts.metamorphic);
    const second = await contracts.makeMetamorphic(LASTING);
    expect(await read(contracts.metamorphic, first.transactionHash)).toBe('left_other_code');
    expect(await read(contracts.metamorphic, second.transactionHash)).toBe('found');
    const plain = await anvil.send({ data: MAKE_MORTAL });
    const address = plain.contractAddress!;
    expect(await read(address, plain.transactionHash)).toBe('found');
    await anvil.request('anvil_mine', ['0x1']);
    await anvil.request('anvil_setCode', [address, LASTING]);
    expect(await read(address, plain.transactionHash)).toBe('left_other_code');
  });

  test('fails if the contract was destroyed and recreated with the same bytecode', async () => {
    const { contracts, read } = old;
    const { madeByNonce } = contracts;
    const first = await contracts.makeByNonce(MAKE_MORTAL);
    expect(await read(madeByNonce, first.transactionHash)).toBe('found');
    await contracts.call(madeByNonce);
    const second = await contracts.makeByNonce(MAKE_MORTAL_OTHERWISE);
    expect(await read(madeByNonce, first.transactionHash)).toBe('created_again');
    expect(await read(madeByNonce, second.transactionHash)).toBe('found');
    for (const { transactionHash } of [first, second]) {
      const filter = { changes: withoutStates };
      expect(await read(madeByNonce, transactionHash, filter)).toBe('not_proven');
    }
  });

  test('needs no states if the code cannot self-destruct or the chain is past Cancun', async () => {
    const filter = { changes: withoutStates };
    for (const { contracts, read } of [old, present]) {
      const salt = contracts === old.contracts ? 1 : 2;
      const code = Buffer.from(MAKE_LASTING, 'hex');
      const salted = Buffer.from(word(salt), 'hex');
      const address = computeCreate2Address(contracts.quietProxy, salted, code);
      const { anvil } = contracts === old.contracts ? old : present;
      const made = await anvil.send({
        to: contracts.quietProxy,
        data: `0x${word(salt)}${MAKE_LASTING}`,
      });
      expect(await read(address, made.transactionHash, filter)).toBe('found');
    }
    const made = await present.contracts.makeMetamorphic(MORTAL);
    const { metamorphic } = present.contracts;
    expect(await present.read(metamorphic, made.transactionHash, filter)).toBe('found');
  });

  test('fails if the contract was gone at the end of the transaction', async () => {
    const { anvil, contracts, read } = present;
    const code = Buffer.from(MAKE_MORTAL.slice(2), 'hex');
    const address = computeCreate2Address(contracts.maker, Buffer.alloc(32), code);
    const first = await contracts.makeAndCall(MAKE_MORTAL);
    expect(await anvil.request('eth_getCode', [address, 'latest'])).toBe('0x');
    await anvil.request('anvil_setCode', [address, MORTAL]);
    for (const hides of [[], ['debug_traceTransaction']]) {
      expect(await read(address, first.transactionHash, { hides })).toBe('created_nothing_here');
    }
  });

  test('distinguishes deployment proxy calls that create from those that do not', async () => {
    for (const [salt, proxy] of [
      [7, old.contracts.quietProxy],
      [8, DEPLOYMENT_PROXY],
    ] as const) {
      const { anvil, read } = old;
      const data: Hex = `0x${word(salt)}${MAKE_LASTING}`;
      const salted = Buffer.from(word(salt), 'hex');
      const address = computeCreate2Address(proxy, salted, Buffer.from(MAKE_LASTING, 'hex'));
      const first = await anvil.send({ to: proxy, data });
      const second = await anvil.send({ to: proxy, data });
      const isQuiet = proxy !== DEPLOYMENT_PROXY;
      expect(Number(second.status)).toBe(isQuiet ? 1 : 0);
      const untraced = { hides: TRACES };
      const blind = { hides: TRACES, changes: withoutStates };
      const failed = isQuiet ? undefined : 'transaction_failed';
      expect([
        await read(address, first.transactionHash),
        await read(address, first.transactionHash, untraced),
        await read(address, first.transactionHash, blind),
        await read(address, second.transactionHash),
        await read(address, second.transactionHash, untraced),
        await read(address, second.transactionHash, blind),
      ]).toEqual([
        'found',
        isQuiet ? 'not_proven' : 'found',
        'not_proven',
        failed ?? 'created_nothing_here',
        failed ?? 'code_was_there_before',
        failed ?? 'not_proven',
      ]);
    }
  });

  test('fails if the proxy had no code yet when it was called', async () => {
    const { anvil, read } = present;
    const data: Hex = `0x${word(11)}${MAKE_LASTING}`;
    const [salt, code] = [word(11), MAKE_LASTING].map((hex) => Buffer.from(hex, 'hex'));
    const filters = [{}, { hides: TRACES }, { hides: TRACES, changes: withoutStates }];
    for (const isOneBlock of [false, true]) {
      const nonce = Number(
        await anvil.request('eth_getTransactionCount', [anvil.account, 'latest']),
      );
      const proxy = addressOfNonce(anvil.account, nonce + 1);
      const hashes: Hex[] = [];
      if (isOneBlock) await anvil.request('evm_setAutomine', [false]);
      for (const call of [{ to: proxy, data }, { data: DEPLOY_PROXY }, { to: proxy, data }]) {
        const sent = { from: anvil.account, gas: '0x989680', ...call };
        hashes.push(await anvil.request<Hex>('eth_sendTransaction', [sent]));
      }
      if (isOneBlock) await anvil.request('evm_mine');
      await anvil.request('evm_setAutomine', [true]);
      const address = computeCreate2Address(proxy, salt!, code!);
      await expect.poll(() => anvil.request('eth_getCode', [address, 'latest'])).toBe(LASTING);
      const [early, , late] = hashes;
      for (const filter of filters) expect(await read(address, early!, filter)).not.toBe('found');
      expect(await read(address, late!)).toBe('found');
      // The state before a block does not show what its first transactions did.
      const untraced = await read(address, late!, { hides: TRACES });
      expect(untraced).toBe(isOneBlock ? 'not_proven' : 'found');
    }
  });

  test('is not denied by a response that is no trace of the transaction', async () => {
    const { anvil, read } = present;
    const address = computeCreate2Address(
      DEPLOYMENT_PROXY,
      Buffer.from(word(12), 'hex'),
      Buffer.from(MAKE_LASTING, 'hex'),
    );
    const made = await anvil.send({ to: DEPLOYMENT_PROXY, data: `0x${word(12)}${MAKE_LASTING}` });
    const idle = await anvil.send({ to: address });
    const traceOf = (method: string, hash: Hex): Promise<unknown> =>
      anvil.request(
        method,
        [hash, { tracer: 'callTracer' }].slice(0, method === TRACES[0] ? 2 : 1),
      );
    const flat = await traceOf('trace_transaction', idle.transactionHash);
    const tree = await traceOf('debug_traceTransaction', idle.transactionHash);
    for (const [hides, answer] of [
      [TRACES[0]!, []],
      [TRACES[0]!, flat],
      [TRACES[1]!, tree],
    ] as const) {
      const answers =
        (shown: unknown): NonNullable<NodeFilter['changes']> =>
        (method, params, result) =>
          TRACES.includes(method) ? shown : withoutStates(method, params, result);
      const reading = await read(address, made.transactionHash, {
        hides: [hides],
        changes: answers(answer),
      });
      expect(reading).toBe('not_proven');
    }
  });

  test('fails without a trace if the creation code may have destroyed the contract', async () => {
    for (const { anvil, read } of [old, present]) {
      const helper = `0x${'77'.repeat(20)}`;
      await anvil.request('anvil_setCode', [helper, '0x33ff']);
      // Runs the helper's code as its own, and then makes what lasts.
      const runtime = LASTING.slice(2);
      const size = runtime.length / 2;
      const push = (value: number): string => `60${value.toString(16).padStart(2, '0')}`;
      const store = `${(0x5f + size).toString(16)}${runtime}5f52${push(size)}${push(32 - size)}f3`;
      const init = `5f5f5f5f73${helper.slice(2)}5af450${store}`;
      const address = computeCreate2Address(
        DEPLOYMENT_PROXY,
        Buffer.alloc(32),
        Buffer.from(init, 'hex'),
      );
      const call = { to: DEPLOYMENT_PROXY, data: `0x${word(0)}${init}` } as const;
      const first = await anvil.send(call);
      expect(await anvil.request('eth_getCode', [address, 'latest'])).toBe('0x');
      await anvil.request('anvil_setCode', [helper, '0x00']);
      const second = await anvil.send(call);
      expect(await anvil.request('eth_getCode', [address, 'latest'])).toBe(LASTING);
      const blind = { hides: TRACES, changes: withoutStates };
      for (const { transactionHash } of [first, second]) {
        expect(await read(address, transactionHash, blind)).toBe('not_proven');
      }
      expect(await read(address, second.transactionHash)).toBe('found');
      expect(await read(address, first.transactionHash)).not.toBe('found');
    }
  });
});

describe('Blocks at which the code is checked again', () => {
  test('ascend from creation to reading, and are complete for short ranges', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), (first, more) => {
        const blocks = sampleBlocks(first, first + more);
        expect(blocks[0]).toBe(first);
        if (more > 0) expect(blocks.at(-1)).toBe(first + more);
        expect(blocks).toHaveLength(Math.min(12, more + 1));
        expect(blocks).toEqual([...new Set(blocks)].sort((left, right) => left - right));
      }),
    );
  });
});
