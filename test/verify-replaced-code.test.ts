import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { callOf } from './support/creation-deployments.ts';
import { sql } from '../src/store/database.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import {
  createReplaceableContracts,
  type ReplaceableContracts,
} from './support/replaceable-contracts.ts';
import { type CliRun, runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';

const sourceOf = (name: string, value: number): string => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract ${name} {
    function value() external pure returns (uint256) { return ${value}; }
    function end() external { selfdestruct(payable(msg.sender)); }
}
`;
const inputOfContract = (name: string, value: number) =>
  inputOf({ [`${name}.sol`]: sourceOf(name, value) }, { evmVersion: 'shanghai' });
const INPUTS = { First: inputOfContract('First', 1), Second: inputOfContract('Second', 2) };
const bodyOf = (name: keyof typeof INPUTS, more: object = {}): object => ({
  stdJsonInput: INPUTS[name],
  compilerVersion: '0.8.37',
  contractIdentifier: `${name}.sol:${name}`,
  ...more,
});

describeWith([ANVIL], 'replaced bytecode', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let contracts: ReplaceableContracts;
  let address: Hex;
  const creationCodes: Partial<Record<keyof typeof INPUTS, Hex>> = {};

  beforeAll(async () => {
    [anvil, testDatabase] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID, hardfork: 'shanghai' }),
      createTestDatabase(),
    ]);
    contracts = await createReplaceableContracts(anvil);
    address = contracts.madeByNonce;
    for (const name of ['First', 'Second'] as const) {
      const { creationCode } = await compileAsDeveloper(
        '0.8.37',
        INPUTS[name],
        `${name}.sol`,
        name,
      );
      creationCodes[name] = `0x${creationCode}`;
    }
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
  /** Deploys one of the contracts at the shared address and returns the transaction. */
  const make = async (name: keyof typeof INPUTS): Promise<Hex> => {
    const { transactionHash } = await contracts.makeByNonce(creationCodes[name] ?? '0x');
    return transactionHash;
  };
  const end = (): Promise<unknown> => anvil.send({ to: address, data: callOf('end()') });
  const verify = (name: keyof typeof INPUTS, more: object = {}) =>
    verifyOverV2(service.apiUrl, address, bodyOf(name, more));
  const eventsOf = async (): Promise<readonly { kind: string; reason?: string }[]> => {
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    const answer = (await (await fetch(url)).json()) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return answer.results;
  };

  let first: Hex;

  test('is verified in both versions, and not again while it stays', async () => {
    first = await make('First');
    const { contract } = await verify('First', { creationTransactionHash: first });
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: 'exact_match' });
    const again = await post(
      `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`,
      bodyOf('First'),
    );
    expect([again.status, await again.json()]).toMatchObject([
      409,
      { customCode: 'already_verified' },
    ]);
  });

  test('accepts its own sources, withdraws the previous match, and rejects its old transaction', async () => {
    await end();
    const second = await make('Second');
    const { contract } = await verify('Second', { creationTransactionHash: first });
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    expect(await eventsOf()).toMatchObject([
      { kind: 'stored' },
      { kind: 'withdrawn', reason: 'code_replaced' },
      { kind: 'stored' },
    ]);
    const named = await verify('Second', { creationTransactionHash: second });
    expect(named.contract).toMatchObject({ creationMatch: 'exact_match' });
  });

  test('keeps its match while absent and loses it once other bytecode appears: by fullmatch recheck', async () => {
    const folder = await createTemporaryFolder();
    onTestFinished(() => folder.remove());
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
    const recheck = (): Promise<CliRun> =>
      runInProcess(['recheck', String(VERIFIED_CHAIN_ID), address, '--json'], {
        environment: { DATABASE_URL: testDatabase.url },
        workingDirectory: folder.path,
      });
    const outcomeOf = async (): Promise<unknown> => JSON.parse((await recheck()).stdout);
    const facts = { chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    expect(await outcomeOf()).toEqual([{ ...facts, outcome: 'same' }]);
    await end();
    expect(await outcomeOf()).toEqual([{ ...facts, outcome: 'gone' }]);
    await make('First');
    expect(await outcomeOf()).toEqual([{ ...facts, outcome: 'code_replaced' }]);
    expect(await outcomeOf()).toEqual([{ ...facts, outcome: 'not_verified' }]);
    expect((await eventsOf())[0]).toMatchObject({ kind: 'withdrawn', reason: 'code_replaced' });
  });

  test('is detected by the service itself', async () => {
    expect((await verify('First')).contract).toMatchObject({ runtimeMatch: 'exact_match' });
    await end();
    await make('Second');
    const walking = await boot(1);
    try {
      await expect
        .poll(async () => (await eventsOf())[0])
        .toMatchObject({ kind: 'withdrawn', reason: 'code_replaced' });
    } finally {
      await walking.close();
    }
  });

  /** Stores a partial match: a full one would be compared with the chain before the next submission is accepted. */
  const verifySecondInPart = async (): Promise<void> => {
    const text = `${sourceOf('Second', 2)}// another comment`;
    const stdJsonInput = inputOf({ 'Second.sol': text }, { evmVersion: 'shanghai' });
    expect((await verify('Second', { stdJsonInput })).contract).toMatchObject({ match: 'match' });
  };

  test('loses the old match in the transaction that stores the new one', async () => {
    await verifySecondInPart();
    await end();
    await make('First');
    expect((await verify('First')).contract).toMatchObject({ runtimeMatch: 'exact_match' });
    const newest = await testDatabase.database.query<{ kind: string; transaction: string }>(
      sql(
        'test newest events',
        'SELECT kind, xmin::text AS transaction FROM match_events ORDER BY id DESC LIMIT 2',
      ),
    );
    expect(newest.map(({ kind }) => kind)).toEqual(['stored', 'withdrawn']);
    expect(new Set(newest.map(({ transaction }) => transaction)).size).toBe(1);
  });

  test('loses the old match even if verification of the new bytecode fails', async () => {
    await end();
    await make('Second');
    await verifySecondInPart();
    await end();
    await make('First');
    expect((await verify('Second')).error?.customCode).toBe('no_match');
    expect((await eventsOf())[0]).toMatchObject({ kind: 'withdrawn', reason: 'code_replaced' });
  });
});
