import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { sql } from '../src/store/database.ts';
import { deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { type FilteringNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, LINUX, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';
import { readContract } from './support/verifying-service.ts';

/** Addresses of this machine: endpoints on three hosts count as independent. */
const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const FALSE_BLOCK = 500_000_000;
const SOURCE =
  '// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\ncontract Kept { uint256 public x; }\n';
const INPUT = inputOf({ 'Kept.sol': SOURCE });
const OTHER_INPUT = inputOf({ 'Kept.sol': `${SOURCE}// again\n` });

describeWith([ANVIL, LINUX], 'a wrong creation block from one of three endpoints', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let nodes: readonly FilteringNode[];
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let creationCode: string;
  let address: Hex;
  let transactionHash: Hex;
  let block: string;

  beforeAll(async () => {
    [anvil, testDatabase, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
      createTemporaryFolder(),
    ]);
    nodes = await Promise.all(HOSTS.map((host) => startFilteringNode(anvil.url, {}, host)));
    const yaml = `
registry: { include: configured, defaults: false }
chains:
  ${VERIFIED_CHAIN_ID}:
    name: Test chain
    local: true
    quorum: 2
    rpc: [${nodes.map(({ url }) => url).join(', ')}]
verification: { recheckRoundSeconds: 0 }
`;
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
    service = await bootService({ databaseUrl: testDatabase.url, yaml });
    ({ creationCode } = await compileAsDeveloper('0.8.37', INPUT, 'Kept.sol', 'Kept'));
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(nodes.map((node) => node.close()));
    await folder.remove();
    await anvil.stop();
    await testDatabase.drop();
  });
  beforeEach(async () => {
    ({ address, transactionHash } = await deploy(anvil, creationCode));
    const receipt = await anvil.request<{ blockNumber: Hex }>('eth_getTransactionReceipt', [
      transactionHash,
    ]);
    block = String(Number(receipt.blockNumber));
  });

  /** One endpoint lies about every block number. */
  const lie = (liar: number | undefined): void => {
    for (const [index, node] of nodes.entries()) {
      node.filter = {
        changes: (method, params, result) => {
          if (index !== liar || result === null) return result;
          if (method === 'eth_getTransactionReceipt') {
            return { ...(result as object), blockNumber: `0x${FALSE_BLOCK.toString(16)}` };
          }
          return method === 'eth_getBlockByNumber' && params[0] === 'latest'
            ? { ...(result as object), number: '0x1fffffffffffff' }
            : result;
        },
      };
    }
  };
  const bodyOf = (input: object): object => ({
    stdJsonInput: input,
    compilerVersion: '0.8.37',
    contractIdentifier: 'Kept.sol:Kept',
    creationTransactionHash: transactionHash,
  });
  const verify = (input: object) => verifyOverV2(service.apiUrl, address, bodyOf(input));
  const publishedBlock = async (): Promise<unknown> =>
    (await readContract(service, VERIFIED_CHAIN_ID, address)).deployment['blockNumber'];
  const eventsOf = async (): Promise<readonly string[]> => {
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    const { results } = (await (await fetch(url)).json()) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return results.map(({ kind, reason }) => reason ?? kind);
  };
  /** A block that an earlier version stored on one endpoint's report alone. */
  const storeFalseBlock = async (): Promise<void> => {
    await testDatabase.database.query(
      sql(
        'test false block',
        'UPDATE contract_deployments SET block_number = $2, transaction_index = 7 WHERE address = $1',
      ),
      [Buffer.from(address.slice(2), 'hex'), FALSE_BLOCK],
    );
    expect(await publishedBlock()).toBe(String(FALSE_BLOCK));
  };
  const recheck = async (): Promise<unknown> => {
    const { stdout } = await runInProcess(
      ['recheck', String(VERIFIED_CHAIN_ID), address, '--json'],
      { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
    );
    return JSON.parse(stdout);
  };
  const CORRECTED = 'deployment_corrected: block_number, transaction_index';

  test.each([0, 1, 2])('is not published (lying endpoint %d)', async (liar) => {
    lie(liar);
    expect((await verify(INPUT)).contract.match).toBe('exact_match');
    expect(await publishedBlock()).toBe(block);
    const url = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
    const { codeReading } = (await (await fetch(url)).json()) as {
      codeReading: { blockNumber: number };
    };
    expect(codeReading.blockNumber).toBe(Number(await anvil.request<Hex>('eth_blockNumber', [])));
  });

  test('is corrected by a recheck if stored', async () => {
    lie(undefined);
    await verify(INPUT);
    await storeFalseBlock();
    lie(0);
    expect(await recheck()).toMatchObject([{ outcome: 'deployment_corrected' }]);
    expect(await publishedBlock()).toBe(block);
    expect(await eventsOf()).toEqual([CORRECTED, 'stored']);
    expect(await recheck()).toMatchObject([{ outcome: 'same' }]);
  });

  test('is corrected by the next verification, even if that stores no match', async () => {
    lie(undefined);
    await verify(OTHER_INPUT);
    await storeFalseBlock();
    lie(1);
    await verify(OTHER_INPUT);
    expect(await publishedBlock()).toBe(block);
    expect(await eventsOf()).toEqual([CORRECTED, 'stored']);
  });

  test('is corrected by a submission rejected because the contract is verified', async () => {
    lie(undefined);
    await verify(INPUT);
    await storeFalseBlock();
    const url = `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`;
    expect((await post(url, bodyOf(INPUT))).status).toBe(409);
    expect(await publishedBlock()).toBe(block);
  });
});
