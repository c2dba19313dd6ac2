// Self-destructible bytecode may be recreated by a transaction that leaves the same bytecode. An import's
// claim about the creation is weighed against the other creation, since the states of a few blocks do not
// show which one is the last.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { callOf, word } from './support/creation-deployments.ts';
import { contractFolder, writeContract } from './support/example-tree.ts';
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
import { verifyOverV2 } from './support/verification-client.ts';
import { readContract } from './support/verifying-service.ts';

/** More blocks between two transactions than a creation search examines. */
const MANY_BLOCKS = '0x400';

describeWith([ANVIL], 'verification of recreated bytecode after an imported claim', () => {
  let anvil: Anvil;
  let contracts: ReplaceableContracts;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let address: Hex;
  let creationCode: string;
  let foreign: Hex;
  let early: Hex;
  let late: Hex;

  const make = async (owner: number): Promise<Hex> => {
    const { transactionHash } = await contracts.makeByNonce(`0x${creationCode}${word(owner)}`);
    await anvil.request('anvil_mine', [MANY_BLOCKS]);
    return transactionHash;
  };

  beforeAll(async () => {
    [anvil, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID, hardfork: 'shanghai' }),
      createTemporaryFolder(),
    ]);
    contracts = await createReplaceableContracts(anvil);
    address = contracts.madeByNonce;
    ({ creationCode } = await compileAsDeveloper('0.8.37', OWNED_INPUT, 'Owned.sol', 'Owned'));
    ({ transactionHash: foreign } = await anvil.send({ data: '0x6001600155' }));
    early = await make(1);
    await anvil.send({ to: address, data: callOf('end()') });
    late = await make(2);
    const yaml = configOf(anvil, 'verification: { recheckRoundSeconds: 0 }\n');
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
  });
  afterAll(async () => {
    await folder.remove();
    await anvil.stop();
  });
  beforeEach(async () => {
    testDatabase = await createTestDatabase();
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(anvil, 'verification: { recheckRoundSeconds: 0 }\n'),
    });
    return async () => {
      await service.close();
      await testDatabase.drop();
    };
  });

  const fullmatch = (...args: readonly string[]) =>
    runInProcess(args, {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  /** Imports the sources of the bytecode, with another comment for a partial match, and names a creation. */
  const importClaim = async (
    transaction: Hex,
    match: 'full' | 'partial' = 'partial',
  ): Promise<void> => {
    const comment = match === 'full' ? '' : '// claimed\n';
    const content = `${OWNED_INPUT.sources['Owned.sol']?.content ?? ''}${comment}`;
    const input = { ...OWNED_INPUT, sources: { 'Owned.sol': { content } } };
    const { metadata } = await compileAsDeveloper('0.8.37', input, 'Owned.sol', 'Owned');
    const root = path.join(folder.path, `tree-${transaction}`);
    const place = {
      match,
      chainId: VERIFIED_CHAIN_ID,
      address: checksumAddress(address),
    };
    const at = contractFolder(root, place);
    const sources = { 'Owned.sol': content };
    const template = { metadata, sources, facts: {}, name: 'Owned', targetPath: 'Owned.sol' };
    await writeContract(at, template, { layout: 'v1' });
    await writeFile(path.join(at, 'creator-tx-hash.txt'), transaction);
    expect((await fullmatch('import', root)).exitCode).toBe(0);
  };
  /** Verifies the true sources with a creation transaction; returns the creation shown afterwards. */
  const verify = async (creationTransactionHash: Hex) => {
    const submission = { ...OWNED_BODY, creationTransactionHash };
    const { contract } = await verifyOverV2(service.apiUrl, address, submission);
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match' });
    const { deployment, creationMatch } = await readContract(service, VERIFIED_CHAIN_ID, address);
    const { differences } = await recount(testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
    return { creationMatch, transactionHash: deployment.transactionHash };
  };

  test('rejects the earlier creation if the claim names the later one', async () => {
    await importClaim(late);
    expect(await verify(early)).toMatchObject({ creationMatch: null });
    expect(await verify(late)).toEqual({ creationMatch: 'exact_match', transactionHash: late });
  });

  test('accepts the later creation if the claim names the earlier one', async () => {
    await importClaim(early);
    expect(await verify(late)).toEqual({ creationMatch: 'exact_match', transactionHash: late });
  });

  test('accepts the true creation if the chain disproves the named one', async () => {
    await importClaim(foreign);
    expect(await verify(late)).toEqual({ creationMatch: 'exact_match', transactionHash: late });
  });

  test('accepts the true creation if no endpoint finds the named one', async () => {
    await importClaim(`0x${'ab'.repeat(32)}`);
    expect(await verify(late)).toEqual({ creationMatch: 'exact_match', transactionHash: late });
  });

  test('rejects the earlier creation named by one import if another names the later one', async () => {
    await importClaim(late);
    await importClaim(early, 'full');
    expect(await verify(early)).toMatchObject({ creationMatch: null });
  });

  test('rejects the earlier creation after another import named an unknown one', async () => {
    await importClaim(late);
    await importClaim(`0x${'ab'.repeat(32)}`);
    expect(await verify(early)).toMatchObject({ creationMatch: null });
  });

  test('shows no proven block for a creation that the chain has since disproved', async () => {
    expect(await verify(late)).toMatchObject({ transactionHash: late });
    await anvil.send({ to: address, data: callOf('end()') });
    await anvil.request('anvil_mine', [MANY_BLOCKS]);
    await make(3);
    const place = [String(VERIFIED_CHAIN_ID), address];
    await fullmatch('recheck', ...place);
    expect((await fullmatch('withdraw', ...place, '--reason', 'test')).exitCode).toBe(0);
    await importClaim(late, 'full');
    const { deployment } = await readContract(service, VERIFIED_CHAIN_ID, address);
    expect(deployment).toMatchObject({
      ...{ transactionHash: late, unprovenValues: ['transaction'] },
      ...{ blockNumber: null, deployer: null },
    });
  });
});
