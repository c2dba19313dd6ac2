// An imported tree's statement about a creation: a claim, until this service proves the creation.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { type Match } from '../src/repository/matches/verified-contract.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { word } from './support/creation-deployments.ts';
import { contractFolder, writeContract } from './support/example-tree.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';
import { readContract } from './support/verifying-service.ts';
import { hasBrowser, LOOKS, openTab, visit } from './support/browser.ts';

const vault = (comment: string, start = '5', body = '') =>
  inputOf({
    'V.sol': `// ${comment}
      contract Vault { uint public x = ${start}; constructor(uint limit) { x += limit; } ${body} }`,
  });
/** Bytecode that could self-destruct before Cancun, like that of every proxy. */
const DELEGATING =
  'function run(address a) external { (bool done,) = a.delegatecall(""); require(done); }';
const LIMIT = word(9);
const FALSE_ARGUMENTS = `0x${Buffer.from('the owner is somebody else').toString('hex')}`;
/** No node has this transaction, possibly because it was pruned. */
const UNKNOWN: Hex = `0x${'ab'.repeat(32)}`;

describeWith([ANVIL], 'the creation of an imported match', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let service: BootedService;
  let other: Hex;
  let trees = 0;

  beforeAll(async () => {
    [anvil, testDatabase, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
      createTemporaryFolder(),
    ]);
    const yaml = configOf(anvil, 'verification: { recheckRoundSeconds: 0 }\n');
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
    service = await bootService({ databaseUrl: testDatabase.url, yaml });
    ({ transactionHash: other } = await anvil.send({ data: '0x6001600155' }));
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
    await anvil.stop();
    await testDatabase.drop();
  });

  const fullmatch = (...args: readonly string[]) =>
    runInProcess(args, {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  const deployVault = async (body = '') => {
    const input = vault('true', '5', body);
    const { creationCode } = await compileAsDeveloper('0.8.37', input, 'V.sol', 'Vault');
    return deploy(anvil, creationCode, LIMIT);
  };
  /** Imports a tree of one contract: with the exact text if it claims a full match, otherwise with another comment. */
  const importTree = async (
    address: Hex,
    match: Match,
    transaction: Hex,
    constructorArguments = FALSE_ARGUMENTS,
    body = '',
  ): Promise<void> => {
    const input = vault(match === 'full' ? 'true' : 'claimed', '5', body);
    const { metadata } = await compileAsDeveloper('0.8.37', input, 'V.sol', 'Vault');
    const root = path.join(folder.path, `tree-${(trees += 1)}`);
    const place = { match, chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    const at = contractFolder(root, place);
    const sources = { 'V.sol': input.sources['V.sol']?.content ?? '' };
    const facts = { 'constructor-args.txt': constructorArguments };
    const template = { metadata, sources, facts, name: 'Claim', targetPath: 'V.sol' };
    await writeContract(at, template, { layout: 'v1' });
    await writeFile(path.join(at, 'creator-tx-hash.txt'), transaction);
    expect((await fullmatch('import', root)).exitCode).toBe(0);
  };
  const answerOf = async (place: string): Promise<unknown> =>
    (await fetch(`${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${place}`)).json();
  const unprovenOf = async (address: Hex) =>
    ((await answerOf(address)) as { unproven: readonly string[] }).unproven;
  /** Events since the match was stored, oldest first. */
  const changesOf = async (address: Hex) => {
    const { results } = (await answerOf(`${address}/events`)) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return results
      .map(({ kind, reason }) => reason ?? kind)
      .reverse()
      .slice(1);
  };
  const shownAt = (address: Hex) => readContract(service, VERIFIED_CHAIN_ID, address);
  const pageOf = async (address: Hex): Promise<string> => {
    const url = `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${checksumAddress(address)}`;
    return (await fetch(`${url}?tab=proof`, { headers: { accept: 'text/html' } })).text();
  };
  const verify = async (address: Hex, input: object, more: object = {}) => {
    const job = await verifyOverV2(service.apiUrl, address, {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: 'V.sol:Vault',
      ...more,
    });
    const { differences } = await recount(testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
    return job;
  };
  const recheck = async (address: Hex): Promise<string | undefined> => {
    const { stdout } = await fullmatch('recheck', String(VERIFIED_CHAIN_ID), address, '--json');
    return (JSON.parse(stdout) as { outcome: string }[])[0]?.outcome;
  };
  const provenOf = async (transactionHash: Hex) => {
    const receipt = await anvil.request<{ blockNumber: Hex; from: Hex }>(
      'eth_getTransactionReceipt',
      [transactionHash],
    );
    return {
      transactionHash,
      blockNumber: String(Number(receipt.blockNumber)),
      transactionIndex: '0',
      deployer: checksumAddress(receipt.from),
    };
  };

  describe.each(['full', 'partial'] as const)('a creation claimed as %s', (match) => {
    let address: Hex;
    let transactionHash: Hex;

    beforeEach(async () => {
      ({ address, transactionHash } = await deployVault());
    });

    test('is reported as a claim', async () => {
      await importTree(address, match, UNKNOWN);
      expect(await unprovenOf(address)).toEqual(
        expect.arrayContaining(['transaction', 'arguments']),
      );
      const { deployment, creationBytecode } = await shownAt(address);
      expect(deployment).toMatchObject({
        transactionHash: UNKNOWN,
        unprovenValues: ['transaction'],
      });
      expect(creationBytecode).toMatchObject({ unprovenValues: ['arguments'] });
      expect(await pageOf(address)).toMatch(
        new RegExp(`${UNKNOWN}</code>[^/]*reported by the importer, not checked here`),
      );
      expect(await recheck(address)).toBe('unknown_code');
      expect(await unprovenOf(address)).toContain('transaction');
      expect(await changesOf(address)).toEqual([]);
    });

    test('is labelled as reported by another service', async () => {
      await importTree(address, match, UNKNOWN);
      const page = await pageOf(address);
      expect(page).toContain(`<div class="verdict claimed">`);
      expect(page).toContain(`Claimed ${match} match`);
      expect(page).toContain('claimed, not compared here');
      expect(page).not.toMatch(
        /metadata hash are identical|Same bytecode|including the metadata hash/,
      );
      const list = await (
        await fetch(`${service.apiUrl}/contracts?chain=${VERIFIED_CHAIN_ID}`, {
          headers: { accept: 'text/html' },
        })
      ).text();
      expect(list).toContain(`claimed ${match}`);
    });

    test.skipIf(!hasBrowser())(
      'is verified with one click and is then no longer a claim',
      async () => {
        await importTree(address, match, transactionHash);
        const tab = await openTab(LOOKS[0]);
        await visit(tab, `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`);
        await tab.page.getByRole('button', { name: 'Check now' }).click();
        await tab.page.waitForURL('**/job/*');
        await tab.page.getByRole('heading', { level: 1 }).waitFor();
        await expect
          .poll(async () => (await answerOf(address)) as object)
          .toMatchObject({ origin: 'verified', match });
        await visit(tab, `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`);
        expect(await tab.page.getByRole('button', { name: 'Check now' }).count()).toBe(0);
        expect(tab.troubles).toEqual([]);
        await tab.context.close();
      },
    );

    test('is replaced by the creation that verification proves', async () => {
      await importTree(address, match, other);
      const named = { creationTransactionHash: transactionHash };
      await verify(address, vault('true'), named);
      const shown = await shownAt(address);
      expect(shown).toMatchObject({ match: 'exact_match', creationMatch: 'exact_match' });
      expect(shown.deployment).toEqual(await provenOf(transactionHash));
      expect(shown.creationBytecode).toMatchObject({
        transformations: [{ reason: 'constructorArguments', type: 'insert' }],
        transformationValues: { constructorArguments: `0x${LIMIT}` },
      });
      expect(await unprovenOf(address)).toEqual([]);
      const page = await pageOf(address);
      expect(page).toContain(transactionHash);
      expect(page).not.toContain('not checked here');
    });

    test('never blocks the true creation of a proxy', async () => {
      for (const claimed of [UNKNOWN, other]) {
        const proxy = await deployVault(DELEGATING);
        await importTree(proxy.address, match, claimed, FALSE_ARGUMENTS, DELEGATING);
        await verify(proxy.address, vault('true', '5', DELEGATING), {
          creationTransactionHash: proxy.transactionHash,
        });
        expect(await shownAt(proxy.address)).toMatchObject({
          creationMatch: 'exact_match',
          deployment: await provenOf(proxy.transactionHash),
        });
      }
    });

    test('stays a claim if a recheck reads the bytecode', async () => {
      await importTree(address, match, transactionHash, `0x${LIMIT}`);
      const before = await shownAt(address);
      expect(await recheck(address)).toBe('unknown_code');
      expect(await shownAt(address)).toEqual(before);
      expect(await unprovenOf(address)).toEqual(
        expect.arrayContaining(['transaction', 'arguments']),
      );
      expect(await changesOf(address)).toEqual([]);
    });
  });

  test('is removed with its text once an equally good text is verified', async () => {
    const { address, transactionHash } = await deployVault();
    await importTree(address, 'partial', other);
    await verify(address, vault('honest'), { creationTransactionHash: transactionHash });
    const shown = await shownAt(address);
    expect(shown.deployment).toEqual(await provenOf(transactionHash));
    expect(shown).toMatchObject({ match: 'match', creationMatch: 'match' });
    expect(JSON.stringify(shown.sources)).toContain('// honest');
    expect(await changesOf(address)).toEqual(['upgraded']);
  });

  test('stays with its text if another text matches less well', async () => {
    const { address, transactionHash } = await deployVault();
    await importTree(address, 'full', other);
    const before = await shownAt(address);
    await verify(address, vault('honest'), { creationTransactionHash: transactionHash });
    expect(await shownAt(address)).toEqual(before);
    expect(await changesOf(address)).toEqual([]);
  });
});
