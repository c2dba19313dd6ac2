import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { readStatistics } from '../src/repository/statistics/statistics.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { sql } from '../src/store/database.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { callOf, word } from './support/creation-deployments.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { OWNED_BODY, OWNED_INPUT } from './support/owned-contract.ts';
import {
  createReplaceableContracts,
  type ReplaceableContracts,
} from './support/replaceable-contracts.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';

const STORE_TRANSACTION = sql(
  'test: store another transaction',
  `UPDATE contract_deployments SET transaction_hash = $1 WHERE id = (
     SELECT deployment_id FROM current_matches
     JOIN verified_contracts ON verified_contracts.id = verified_contract_id WHERE current_matches.address = $2)
   RETURNING id`,
);

describeWith([ANVIL], 'a contract recreated with the same bytecode', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let contracts: ReplaceableContracts;
  let address: Hex;
  let creationCode: string;

  beforeAll(async () => {
    [anvil, testDatabase] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID, hardfork: 'shanghai' }),
      createTestDatabase(),
    ]);
    contracts = await createReplaceableContracts(anvil);
    address = contracts.madeByNonce;
    ({ creationCode } = await compileAsDeveloper('0.8.37', OWNED_INPUT, 'Owned.sol', 'Owned'));
    service = await boot(0);
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  const boot = (recheckRoundSeconds: number): Promise<BootedService> =>
    bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(anvil, `verification: { recheckRoundSeconds: ${recheckRoundSeconds} }\n`),
    });
  const make = async (owner: number): Promise<Hex> =>
    (await contracts.makeByNonce(`0x${creationCode}${word(owner)}`)).transactionHash;
  /** Unrelated creation bytecode that returns the runtime bytecode of these sources. */
  const makeOtherwise = async (): Promise<Hex> => {
    const runtime = await anvil.request<Hex>('eth_getCode', [address, 'latest']);
    const size = ((runtime.length - 2) / 2).toString(16).padStart(4, '0');
    await end();
    const init = `61${size}80600a5f395ff3`;
    const prefix = init.padEnd(20, '0');
    return (await contracts.makeByNonce(`0x${prefix}${runtime.slice(2)}`)).transactionHash;
  };
  const end = (): Promise<unknown> => anvil.send({ to: address, data: callOf('end()') });
  const remake = async (owner: number): Promise<Hex> => {
    await end();
    return make(owner);
  };
  const verify = (creationTransactionHash?: Hex) =>
    verifyOverV2(service.apiUrl, address, {
      ...OWNED_BODY,
      ...(creationTransactionHash && { creationTransactionHash }),
    });
  const eventsOf = async (): Promise<readonly { kind: string; reason?: string }[]> => {
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    const answer = (await (await fetch(url)).json()) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return answer.results;
  };
  const recordedCreation = async (): Promise<unknown> => {
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=all`;
    const { creationMatch, runtimeMatch, deployment } = (await (await fetch(url)).json()) as {
      creationMatch: unknown;
      runtimeMatch: unknown;
      deployment: { transactionHash: unknown };
    };
    return { creationMatch, runtimeMatch, transactionHash: deployment.transactionHash };
  };
  /** Expects the counts to equal the rows and the events. */
  const expectExactCounts = async (): Promise<void> => {
    expect((await recount(testDatabase.database, { repair: false })).differences).toEqual([]);
    const { chains } = await readStatistics(testDatabase.database);
    expect(chains).toMatchObject([{ full: 1, partial: 0 }]);
  };

  let first: Hex;
  let second: Hex;
  const REPLACED = [{ kind: 'stored' }, { kind: 'withdrawn', reason: 'creation_replaced' }];
  const DISPROVED = [{ kind: 'stored' }, { kind: 'withdrawn', reason: 'creation_disproved' }];
  const newestEvents = async (): Promise<unknown> => (await eventsOf()).slice(0, 2);

  test('accepts its true creation and withdraws the old one', async () => {
    first = await make(1);
    await verify(first);
    second = await remake(2);
    const { contract } = await verify(second);
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: 'exact_match' });
    expect(await recordedCreation()).toMatchObject({ transactionHash: second });
    expect((await eventsOf()).map(({ kind, reason }) => [kind, reason])).toEqual([
      ['upgraded', undefined],
      ['stored', undefined],
      ['withdrawn', 'creation_replaced'],
      ['stored', undefined],
    ]);
    await expectExactCounts();
  });

  test('gets the later creation where no state shows that it was gone', async () => {
    second = await remake(3);
    await anvil.request('anvil_mine', ['0x400']);
    const third = await remake(4);
    await anvil.request('anvil_mine', ['0x400']);
    expect((await verify(third)).contract).toMatchObject({ creationMatch: 'exact_match' });
    expect(await recordedCreation()).toMatchObject({ transactionHash: third });
    const again = await post(`${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
      ...OWNED_BODY,
      creationTransactionHash: second,
    });
    expect(again.status).toBe(409);
    second = third;
  });

  test('loses its creation match when other code recreates it, and keeps the runtime match', async () => {
    const other = await makeOtherwise();
    const { contract } = await verify(other);
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    // The other transaction is an on-chain fact: it is added to the newly stored match.
    const newest = (await eventsOf()).slice(0, 3);
    expect(newest).toMatchObject([{ kind: 'upgraded' }, ...REPLACED]);
    expect(await recordedCreation()).toMatchObject({
      creationMatch: null,
      transactionHash: other,
    });
    await expectExactCounts();
    for (const old of [first, second]) {
      expect((await verify(old)).contract).toMatchObject({ creationMatch: null });
    }
  });

  test('is detected by fullmatch recheck', async () => {
    await verify(await remake(5));
    await remake(6);
    const folder = await createTemporaryFolder();
    onTestFinished(() => folder.remove());
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
    const recheck = async (): Promise<unknown> => {
      const { stdout } = await runInProcess(
        ['recheck', String(VERIFIED_CHAIN_ID), address, '--json'],
        { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
      );
      return JSON.parse(stdout);
    };
    expect(await recheck()).toMatchObject([{ outcome: 'creation_disproved' }]);
    expect(await recheck()).toMatchObject([{ outcome: 'same' }]);
    expect(await newestEvents()).toMatchObject(DISPROVED);
    expect(await recordedCreation()).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: null,
    });
    await expectExactCounts();
  });

  test('does not regain a disproved creation when other blocks are searched', async () => {
    const old = await remake(9);
    await verify(old);
    await remake(10);
    await verify(`0x${'11'.repeat(32)}`);
    expect(await newestEvents()).toMatchObject(DISPROVED);
    await anvil.request('anvil_mine', ['0x7d0']);
    expect((await verify(old)).contract).toMatchObject({ creationMatch: null });
    expect(await recordedCreation()).toMatchObject({ creationMatch: null });
  });

  test('keeps the later of two creations verified concurrently', async () => {
    const early = await remake(11);
    await anvil.request('anvil_mine', ['0x400']);
    const late = await remake(12);
    await anvil.request('anvil_mine', ['0x400']);
    await Promise.all([verify(early), verify(late)]);
    expect(await recordedCreation()).toMatchObject({ transactionHash: late });
  });

  test('loses a creation from an earlier version whose transaction created nothing here', async () => {
    await verify(await remake(13));
    const { transactionHash: idle } = await anvil.send({ to: `0x${'12'.repeat(20)}` });
    const rows = await testDatabase.database.query(
      STORE_TRANSACTION,
      [idle, address].map((hex) => Buffer.from(hex.slice(2), 'hex')),
    );
    expect(rows).toHaveLength(1);
    await verify(idle);
    expect(await newestEvents()).toMatchObject(DISPROVED);
    expect(await recordedCreation()).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: null,
    });
    await expectExactCounts();
  });

  test('is detected by the service itself', async () => {
    await verify(await remake(7));
    await remake(8);
    const walking = await boot(1);
    try {
      await expect.poll(newestEvents).toMatchObject(DISPROVED);
    } finally {
      await walking.close();
    }
    await expectExactCounts();
  });
});
