import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Anvil, startAnvil } from '../../../test/support/anvil.ts';
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
import { type Hex } from '../../lib/hex.ts';
import { readGaps, readMonitorStates, requestBackfill } from './monitor-state.ts';

describeWith([ANVIL], 'a followed chain', () => {
  let contracts: MonitoredContracts;
  let store: TestDatabase;
  let anvil: Anvil;
  let factory: Hex;
  let chainId = 70_000;
  let value = 0;
  const opened: FollowedChain[] = [];

  beforeAll(async () => {
    [contracts, store] = await Promise.all([compileMonitoredContracts(), createTestDatabase()]);
  });
  afterAll(async () => {
    await store?.drop();
  });
  beforeEach(async () => {
    chainId += 1;
    anvil = await startAnvil({ chainId });
    factory = (await anvil.send({ data: `0x${contracts.Factory}` })).contractAddress!;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await anvil.stop();
  });

  const follow = (setup: Partial<FollowedSetup> = {}): FollowedChain => {
    const followed = followChain(store.database, { chainId, urls: [anvil.url], ...setup });
    opened.push(followed);
    return followed;
  };
  const head = async (): Promise<number> => Number(await anvil.request<Hex>('eth_blockNumber'));
  const mine = (blocks: number): Promise<unknown> =>
    anvil.request('anvil_mine', [`0x${blocks.toString(16)}`]);
  /** Creates contracts of all kinds, one or several per block. */
  const create = async (count: number, perBlock = 1): Promise<void> => {
    await anvil.request('evm_setAutomine', [false]);
    for (let sent = 0; sent < count; sent += 1) {
      const kind = CREATION_KINDS[value % CREATION_KINDS.length]!;
      value += 1;
      await sendCreation(anvil, contracts, factory, kind, value);
      if (sent % perBlock === perBlock - 1 || sent === count - 1) await mine(1);
    }
    await anvil.request('evm_setAutomine', [true]);
  };
  const caughtUp = async (): Promise<void> => {
    const target = await head();
    await expect.poll(() => readCursor(store.database, chainId)).toBeGreaterThanOrEqual(target);
  };
  const expectTruth = async (first = 0): Promise<void> => {
    await caughtUp();
    const truth = await readTrueCreations(anvil, Math.max(1, first), await head());
    await expect
      .poll(async () => (await readStored(store.database, chainId)).toSorted())
      .toEqual([...truth].toSorted());
  };

  test('yields every creation once, and none that failed or was destroyed', async () => {
    await create(2 * CREATION_KINDS.length);
    await create(3 * CREATION_KINDS.length, CREATION_KINDS.length);
    follow();
    await expectTruth();
    expect((await readStored(store.database, chainId)).length).toBeGreaterThan(40);
    const [state] = await readMonitorStates(store.database, [chainId]);
    expect(state).toMatchObject({ lag: 0, startBlock: 0, reorganisations: 0, isFollowed: true });
    expect(state?.found).toBe((await readStored(store.database, chainId)).length);
    expect(await readGaps(store.database, chainId)).toEqual({
      ranges: [],
      untraced: [],
      isCut: false,
    });
  });
  test('follows a chain from its head by default', async () => {
    await create(5);
    const from = await head();
    const followed = follow({ config: { from: 'head' } });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(from);
    await create(CREATION_KINDS.length);
    await expectTruth(from + 1);
    expect(followed.told()).toBeGreaterThan(0);
  });

  test("polls the operator's own node four times a second", async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    follow({ config: { from: 'head' }, options: { pollMs: undefined as never } });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(await head());
    const { blockNumber } = await anvil.send({ data: `0x${contracts.Plain}${'00'.repeat(32)}` });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(Number(blockNumber));
    await expect.poll(() => timers.mock.calls.some(([, ms]) => ms === 250)).toBe(true);
    timers.mockRestore();
  });

  test('a single process catches up, and another takes over when it closes', async () => {
    await create(60, 2);
    await mine(270);
    await create(24, 3);
    const first = follow();
    follow();
    await expect.poll(() => readCursor(store.database, chainId)).toBeGreaterThan(0);
    await first.close();
    await expectTruth();
    expect(await readGaps(store.database, chainId)).toMatchObject({ ranges: [], untraced: [] });
  });

  test('replaces reorganized creations', async () => {
    const followed = follow();
    for (const depth of [1, 5, 20]) {
      await create(24);
      await caughtUp();
      await anvil.request('anvil_reorg', [depth, []]);
      await expectTruth();
      await mine(1);
      await expectTruth();
    }
    const [state] = await readMonitorStates(store.database, [chainId]);
    expect(state?.reorganisations).toBe(3);
    expect(followed.rolledBack.length).toBeGreaterThan(3);
  });

  test('ends with the right creations after reorganizations during catch-up', async () => {
    await create(30, 2);
    await mine(150);
    await create(40);
    follow({ options: { batchBlocks: 10 } });
    for (const depth of [3, 11, 19]) {
      await anvil.request('anvil_reorg', [depth, []]);
      await create(4);
    }
    await expectTruth();
  });

  test('starts over when the chain restarts from genesis', async () => {
    await create(12);
    follow();
    await expectTruth();
    const { port } = anvil;
    await anvil.stop();
    anvil = await startAnvil({ chainId, port });
    factory = (await anvil.send({ data: `0x${contracts.Factory}` })).contractAddress!;
    await create(3);
    await expectTruth();
  });

  test("rolls back when the operator's chain is reset to an earlier block", async () => {
    const snapshot = await anvil.request<Hex>('evm_snapshot');
    follow();
    await create(12);
    await expectTruth();
    await anvil.request('evm_revert', [snapshot]);
    await expect.poll(() => readCursor(store.database, chainId)).toBe(await head());
    await expectTruth();
  });

  test('stays the configured number of confirmations behind', async () => {
    await create(12);
    follow({ config: { confirmations: 4 } });
    await expect.poll(() => readCursor(store.database, chainId)).toBe((await head()) - 4);
    await anvil.request('anvil_reorg', [3, []]);
    await create(1);
    await expect.poll(() => readCursor(store.database, chainId)).toBe((await head()) - 4);
    const [state] = await readMonitorStates(store.database, [chainId]);
    expect(state).toMatchObject({ reorganisations: 0, lag: 4 });
  });

  test('follows the chain up to its finalized block if configured', async () => {
    await create(12);
    await mine(70);
    follow({ config: { confirmations: 'finalized' } });
    const { number } = await anvil.request<{ number: Hex }>('eth_getBlockByNumber', [
      'finalized',
      false,
    ]);
    await expect.poll(() => readCursor(store.database, chainId)).toBe(Number(number));
  });

  test('backfills on request and when the first block is moved back', async () => {
    await create(24, 2);
    const from = (await head()) + 1;
    const followed = follow({ config: { from: 'head' }, options: { batchBlocks: 4 } });
    await expect.poll(() => readCursor(store.database, chainId)).toBe(from - 1);
    await create(6);
    await caughtUp();
    await requestBackfill(store.database, chainId, from - 5, from + 1_000);
    await expectTruth(from - 5);
    followed.config = { ...followed.config, from: 1 };
    await expectTruth();
    await expect.poll(async () => (await readGaps(store.database, chainId)).ranges).toEqual([]);
    const [state] = await readMonitorStates(store.database, [chainId]);
    expect(state?.startBlock).toBe(1);
  });
});
