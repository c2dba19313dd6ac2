import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress } from '../src/lib/hex.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import {
  createDeployer,
  type CreatedContract,
  type Deployer,
  DEPLOYMENT_PROXY,
} from './support/creation-deployments.ts';
import { type FilteringNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';

const CHAIN = String(VERIFIED_CHAIN_ID);

describeWith([ANVIL], 'fullmatch creation-transaction', () => {
  let anvil: Anvil;
  let node: FilteringNode;
  let explorer: WebServer;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let deployer: Deployer;
  let child: CreatedContract;
  let page = '';
  const asked: string[] = [];

  beforeAll(async () => {
    [anvil, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
    ]);
    [deployer, node, explorer] = await Promise.all([
      createDeployer(anvil),
      startFilteringNode(anvil.url, {
        hides: ['ots_getContractCreator'],
        // The node keeps only the latest state.
        changes: (method, [, block], result) =>
          method === 'eth_getCode' && Number(block) < 8 ? new Error('missing trie node') : result,
      }),
      startWebServer((request, response) => {
        asked.push(request.url ?? '');
        response.end(page);
      }),
    ]);
    child = await deployer.deploy('factory');
    await anvil.request('anvil_mine', ['0x7']);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(anvil));
    await writeFile(
      path.join(folder.path, 'explorer.yaml'),
      `${configOf(node)}    contractFetchAddress: ${explorer.url}/address/\${ADDRESS}
    txRegex: "at txn\\\\s+<a href='\\\\/tx\\\\/(.*?)'"\n`,
    );
    await writeFile(path.join(folder.path, 'away.yaml'), configOf({ url: 'http://127.0.0.1:1' }));
  });
  afterAll(async () => {
    await Promise.all([node.close(), explorer.close()]);
    await anvil.stop();
    await folder.remove();
  });

  const run = (...args: readonly string[]): Promise<CliRun> =>
    runInProcess(['creation-transaction', CHAIN, ...args], { workingDirectory: folder.path });

  test('finds the transaction of a factory child without any explorer', async () => {
    const { exitCode, stdout, stderr } = await run(child.address);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/submitted_hash +not_given/);
    expect(stdout).toMatch(
      /contract_creator +found +\d+ ms +0x[0-9a-f]{64} +127\.0\.0\.1:\d+: found/,
    );
    expect(stdout).toMatch(/binary_search +not_needed/);
    expect(stdout).toContain(`in ${child.transactionHash}, transaction 0 of block`);
    expect(stdout).toContain(`created by ${checksumAddress(deployer.factory)}`);
  });

  test('finds it through an explorer page with template and pattern, and says why other methods failed', async () => {
    page = `Contract Creator: x at txn\n <a href='/tx/${child.transactionHash}'>…</a>`;
    const { exitCode, stdout } = await run(child.address, '--config', 'explorer.yaml', '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      chainId: VERIFIED_CHAIN_ID,
      address: checksumAddress(child.address),
      creation: { transactionHash: child.transactionHash },
      methods: [
        { method: 'submitted_hash', outcome: 'not_given' },
        { method: 'contract_creator', outcome: 'not_supported' },
        { method: 'binary_search', outcome: 'no_archive' },
        { method: 'explorer_page', outcome: 'found', transactionHash: child.transactionHash },
      ],
    });
    expect(asked).toEqual([`/address/${checksumAddress(child.address)}`]);
  });

  test('does not trust an explorer that names a wrong transaction', async () => {
    const other = await deployer.deploy('plain');
    page = `at txn <a href='/tx/${other.transactionHash}'>`;
    const { exitCode, stdout, stderr } = await run(child.address, '--config', 'explorer.yaml');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/explorer_page +created_nothing_here/);
    expect(stderr).toContain('error[creation_transaction_not_found]');
  });

  test('verifies the given transaction and continues if it is wrong', async () => {
    const given = await run(
      child.address,
      '--transaction',
      child.transactionHash.toUpperCase().replace('0X', '0x'),
    );
    expect(given.exitCode).toBe(0);
    expect(given.stdout).toMatch(/submitted_hash +found/);
    const other = await deployer.deploy('plain');
    const wrong = await run(child.address, '--transaction', other.transactionHash);
    expect(wrong.exitCode).toBe(0);
    expect(wrong.stdout).toMatch(/submitted_hash +created_nothing_here/);
    expect(wrong.stdout).toMatch(/contract_creator +found/);
  });

  test('distinguishes a contract without a creation from one that could not be searched', async () => {
    const genesis = await run(DEPLOYMENT_PROXY);
    expect(genesis.exitCode).toBe(1);
    expect(genesis.stdout).toMatch(/binary_search +at_genesis/);
    expect(genesis.stderr).toContain('error[creation_transaction_not_found]');
    const nowhere = await run(`0x${'12'.repeat(20)}`);
    expect(nowhere.exitCode).toBe(1);
    expect(nowhere.stderr).toContain('error[contract_not_deployed]');
    const away = await run(child.address, '--config', 'away.yaml', '--json');
    expect(away.exitCode).toBe(75);
    expect(JSON.parse(away.stderr)).toMatchObject({ code: 'not_checked' });
    expect(JSON.parse(away.stdout)).toMatchObject({ creation: null });
  });

  test('rejects an invalid address, hash or chain', async () => {
    for (const args of [['0x12'], [child.address, '--transaction', '0x12']]) {
      const refused = await run(...args);
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain('error[invalid_parameter]');
    }
    const unknown = await runInProcess(['creation-transaction', 'nowhere', child.address], {
      workingDirectory: folder.path,
    });
    expect(unknown.stderr).toContain('error[chain_not_found]');
  });
});
