import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
import { type FilteringNode, startFilteringNode } from '../../../test/support/filtering-node.ts';
import {
  type FollowedChain,
  type FollowedSetup,
  followChain,
  readCursor,
  readStored,
} from '../../../test/support/monitored-chain.ts';
import {
  compileMonitoredContracts,
  CREATION_KINDS,
  type MonitoredContracts,
  readTrueCreations,
  sendCreation,
} from '../../../test/support/monitored-contracts.ts';
import { ANVIL, describeWith } from '../../../test/support/needs.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { startWebServer } from '../../../test/support/web-server.ts';
import { type Hex } from '../../lib/hex.ts';
import { readGaps, readMonitorStates } from './monitor-state.ts';

const TRACING = ['trace_block', 'debug_traceBlockByNumber'];

describeWith([ANVIL], 'following by bad endpoints', () => {
  let contracts: MonitoredContracts;
  let store: TestDatabase;
  let anvil: Anvil;
  let factory: Hex;
  let truth: readonly string[];
  const nodes: FilteringNode[] = [];
  const opened: FollowedChain[] = [];
  const chainId = 71_000;

  beforeAll(async () => {
    [contracts, store, anvil] = await Promise.all([
      compileMonitoredContracts(),
      createTestDatabase(),
      startAnvil({ chainId }),
    ]);
    factory = (await anvil.send({ data: `0x${contracts.Factory}` })).contractAddress!;
    await anvil.request('evm_setAutomine', [false]);
    for (const [index, kind] of [...CREATION_KINDS, ...CREATION_KINDS].entries()) {
      await sendCreation(anvil, contracts, factory, kind, index);
      await anvil.request('anvil_mine', ['0x1']);
    }
    await anvil.request('evm_setAutomine', [true]);
    truth = [...(await readTrueCreations(anvil, 1, await head()))].toSorted();
  });
  afterAll(async () => {
    await anvil?.stop();
    await store?.drop();
  });
  beforeEach(async () => {
    await store.database.query({ label: 'test reset', text: RESET });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await Promise.all(nodes.splice(0).map((each) => each.close()));
  });

  const RESET = `WITH creations AS (DELETE FROM seen_creations), untraced AS (DELETE FROM monitor_untraced_blocks),
    backfills AS (DELETE FROM monitor_backfills) DELETE FROM monitor_cursors`;
  const head = async (): Promise<number> => Number(await anvil.request<Hex>('eth_blockNumber'));
  const node = async (filter: FilteringNode['filter'], host?: string): Promise<FilteringNode> => {
    const started = await startFilteringNode(anvil.url, filter, host);
    nodes.push(started);
    return started;
  };
  const follow = (setup: Partial<FollowedSetup> & Pick<FollowedSetup, 'urls'>): FollowedChain => {
    const followed = followChain(store.database, { chainId, ...setup });
    opened.push(followed);
    return followed;
  };
  const expectTruth = async (expected = truth): Promise<void> => {
    await expect.poll(() => readCursor(store.database, chainId)).toBe(await head());
    expect((await readStored(store.database, chainId)).toSorted()).toEqual(expected);
  };
  const readFault = async (): Promise<string | undefined> => {
    const [state] = await readMonitorStates(store.database, [chainId]);
    return state?.fault?.code;
  };

  test.each([
    ['receipts of whole blocks', ['eth_getBlockReceipts']],
    ['traces of one format', ['trace_block']],
    ['traces of one format and receipts of whole blocks', ['trace_block', 'eth_getBlockReceipts']],
  ])('an endpoint without %s still yields every creation', async (_, hides) => {
    const lacking = await node({ hides });
    follow({ urls: [lacking.url] });
    await expectTruth();
    expect((await readGaps(store.database, chainId)).untraced).toEqual([]);
    // Methods that it lacks are not requested over and over.
    for (const method of hides) {
      expect(lacking.calls.filter((called) => called === method).length).toBeLessThan(12);
    }
  });

  test('an endpoint whose receipts lack contract addresses yields transaction creations', async () => {
    const changes = (method: string, _: readonly unknown[], result: unknown): unknown => {
      if (!/^eth_get(?:Block|Transaction)Receipts?$/.test(method)) return result;
      for (const each of [result].flat())
        delete (each as { contractAddress?: string }).contractAddress;
      return result;
    };
    const { url } = await node({ hides: TRACING, changes });
    const named = await node({ hides: TRACING });
    follow({ urls: [named.url] });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(await head());
    const expected = await readStored(store.database, chainId);
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await store.database.query({ label: 'test reset', text: RESET });
    follow({ urls: [url] });
    await expectTruth(expected.toSorted());
  });

  test('an endpoint without tracing yields transaction creations and reports the gap', async () => {
    const { url } = await node({ hides: TRACING });
    follow({ urls: [url] });
    const plain = truth.filter((line) => {
      const block = Number(line.split(' ')[0]);
      const kind = CREATION_KINDS[(block - 2) % CREATION_KINDS.length]!;
      return block === 1 || kind === 'plain' || kind === 'constructor_made';
    });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(await head());
    const stored = await readStored(store.database, chainId);
    expect(truth).toEqual(expect.arrayContaining(stored as string[]));
    expect(stored).toHaveLength(new Set(plain.map((line) => line.split(' ')[0])).size);
    const { untraced } = await readGaps(store.database, chainId);
    expect(untraced.at(-1)?.last).toBe(await head());
    expect(untraced.length).toBeLessThanOrEqual(3);
  });

  test.each([['debug_traceTransaction'], ['trace_transaction']])(
    'an endpoint with oversized block traces yields every creation by %s',
    async (method) => {
      const others = ['debug_traceTransaction', 'trace_transaction'].filter(
        (each) => each !== method,
      );
      const large = 'x'.repeat(10_000_000);
      const { url, calls } = await node({
        hides: others,
        changes: (called, _, result) => (TRACING.includes(called) ? large : result),
      });
      follow({ urls: [url] });
      await expectTruth();
      expect((await readGaps(store.database, chainId)).untraced).toEqual([]);
      expect(calls).toContain(method);
    },
  );

  test('falls back to a tracing endpoint, for the first block too', async () => {
    const { url } = await node({ hides: TRACING });
    follow({ urls: [url, anvil.url] });
    await expectTruth();
    expect((await readGaps(store.database, chainId)).untraced).toEqual([]);
  });

  test('a lagging endpoint does not count as a reorganization and is replaced', async () => {
    const limit = 9;
    const lagging = await node({
      changes: async (method, params, result) => {
        if (method !== 'eth_getBlockByNumber' || !Array.isArray(params)) return result;
        if (params[0] === 'latest') {
          return anvil.request(method, [`0x${limit.toString(16)}`, params[1]]);
        }
        return Number(params[0]) > limit ? null : result;
      },
    });
    const first = follow({ urls: [anvil.url] });
    await expectTruth();
    await first.close();
    follow({ urls: [lagging.url], local: false });
    await expect.poll(readFault).toBe('endpoint_behind');
    expect(await readStored(store.database, chainId)).toHaveLength(truth.length);
    await opened.pop()?.close();
    follow({ urls: [lagging.url, anvil.url], local: false });
    await anvil.send({ data: `0x${contracts.Plain}${'00'.repeat(32)}` });
    truth = [...(await readTrueCreations(anvil, 1, await head()))].toSorted();
    await expectTruth();
    const [state] = await readMonitorStates(store.database, [chainId]);
    expect(state).toMatchObject({ reorganisations: 0 });
    expect(state?.fault).toBeUndefined();
  });

  test('an endpoint with forged hashes is outvoted by a quorum of two', async () => {
    const lie = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value).replaceAll(/"(hash|parentHash|blockHash)":"0x..../g, '"$1":"0xdead'),
      );
    const liar = await node({ changes: (_, __, result) => (result === null ? null : lie(result)) });
    const honest = await node({}, '127.0.0.2');
    const other = await node({}, '127.0.0.3');
    follow({ urls: [liar.url, honest.url], quorum: 2 });
    await expect.poll(readFault).toBe('endpoints_disagree');
    expect(await readStored(store.database, chainId)).toEqual([]);
    await opened.pop()?.close();
    follow({ urls: [liar.url, honest.url, other.url], quorum: 2 });
    await expectTruth();
  });

  test('an endpoint whose receipts belong to another block yields nothing', async () => {
    const liar = await node({
      changes: (method, _, result) =>
        method === 'eth_getBlockReceipts'
          ? (result as object[]).map((each) => ({ ...each, blockHash: `0x${'ab'.repeat(32)}` }))
          : result,
    });
    follow({ urls: [liar.url] });
    await expect.poll(readFault).toBe('blocks_replaced');
    expect(await readStored(store.database, chainId)).toEqual([]);
  });

  test('an endpoint that throttles or fails occasionally yields every creation', async () => {
    let count = 0;
    const busy = await startWebServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        count += 1;
        if (count === 20 || count % 12 === 0) {
          response.writeHead(count === 20 ? 429 : 503).end();
          return;
        }
        void fetch(anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: Buffer.concat(chunks),
        }).then(async (answer) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(Buffer.from(await answer.arrayBuffer()));
        });
      });
    });
    follow({ urls: [busy.url] });
    await expectTruth();
    await opened.pop()?.close();
    await busy.close();
  });

  test('a dripping endpoint does not delay a good one', async () => {
    const dripping = await startWebServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    });
    follow({ urls: [dripping.url, anvil.url], options: { askMs: 300 } });
    await expectTruth();
    await opened.pop()?.close();
    await dripping.close();
  });

  test('never exceeds the request budget of a host', async () => {
    let left = 20;
    follow({ urls: [anvil.url], takeRequest: () => (left -= 1) >= 0, options: { batchBlocks: 2 } });
    await expect.poll(readFault).toBe('budget_spent');
    const cursor = await readCursor(store.database, chainId);
    expect(cursor).toBeGreaterThan(0);
    expect(cursor).toBeLessThan(await head());
    left = 10_000;
    await expectTruth();
    await expect.poll(readFault).toBeUndefined();
  });
});
