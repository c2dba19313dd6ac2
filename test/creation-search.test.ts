import { afterAll, beforeAll, expect, test } from 'vitest';
import { hexToBytes, type Hex } from '../src/lib/hex.ts';
import { sql } from '../src/store/database.ts';
import { configOf, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import {
  createDeployer,
  type CreatedContract,
  type Deployer,
  DEPLOYMENT_KINDS,
} from './support/creation-deployments.ts';
import { CREATION_SOURCE } from './support/creation-contracts.ts';
import { type FilteringNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { verifyOverV2, type WireJob } from './support/verification-client.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';

const READ_SEARCH = sql(
  'test read creation search',
  `SELECT creation_search FROM verified_contracts
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE address = $1 ORDER BY verified_contracts.id DESC LIMIT 1`,
);
const NO_INDEX = ['ots_getContractCreator'];
const NO_TRACES = [
  'trace_block',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
  'trace_transaction',
];
interface Step {
  readonly method: string;
  readonly outcome: string;
  readonly durationMs: number;
}

describeWith([ANVIL], 'verification without a creation transaction', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let node: FilteringNode;
  let explorer: WebServer;
  let service: BootedService;
  let deployer: Deployer;
  let page = '';

  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    ]);
    [deployer, node, explorer] = await Promise.all([
      createDeployer(anvil),
      startFilteringNode(anvil.url),
      startWebServer((_request, response) => response.end(page)),
    ]);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: `${configOf(node)}    contractFetchAddress: ${explorer.url}/\${ADDRESS}
    txRegex: /tx/(.*?)"\n`,
    });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([node.close(), explorer.close()]);
    await anvil.stop();
    await testDatabase.drop();
  });

  const verify = (address: Hex, more: object = {}): Promise<WireJob> =>
    verifyOverV2(service.apiUrl, address, {
      stdJsonInput: {
        language: 'Solidity',
        sources: { 'Creation.sol': { content: CREATION_SOURCE } },
        settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
      },
      compilerVersion: '0.8.37',
      contractIdentifier: 'Creation.sol:Child',
      ...more,
    });
  const stepsOf = async (address: Hex): Promise<readonly Step[]> => {
    const [row] = await testDatabase.database.query<{ creation_search: readonly Step[] }>(
      READ_SEARCH,
      [hexToBytes(address)],
    );
    return row?.creation_search ?? [];
  };
  const outcomesOf = async (address: Hex): Promise<readonly string[]> =>
    (await stepsOf(address)).map(({ method, outcome }) => `${method} ${outcome}`);
  const deploymentOf = async (address: Hex): Promise<Record<string, unknown>> => {
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=deployment`;
    const body = (await (await fetch(url)).json()) as { deployment: Record<string, unknown> };
    return body.deployment;
  };
  const expectFound = async ({ address, transactionHash }: CreatedContract): Promise<void> => {
    const job = await verify(address);
    expect(job.contract).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
    expect(await deploymentOf(address)).toMatchObject({ transactionHash });
  };

  test.each(DEPLOYMENT_KINDS)(
    'also matches the creation bytecode of a contract created by: %s',
    async (kind) => {
      node.filter = {};
      const made = await deployer.deploy(kind);
      await expectFound(made);
      expect(await outcomesOf(made.address)).toEqual([
        'submitted_hash not_given',
        'contract_creator found',
        'binary_search not_needed',
        'explorer_page not_needed',
      ]);
    },
  );

  test('bisects the chain if the node has no index, and stores the duration of each method', async () => {
    node.filter = { hides: NO_INDEX };
    const made = await deployer.deploy('factory');
    await expectFound(made);
    const steps = await stepsOf(made.address);
    expect(steps.slice(1, 3)).toMatchObject([
      { method: 'contract_creator', outcome: 'not_supported' },
      { method: 'binary_search', outcome: 'found' },
    ]);
    expect(steps.every(({ durationMs }) => Number.isInteger(durationMs) && durationMs >= 0)).toBe(
      true,
    );
  });

  test('queries the explorer if the chain does not help, including the operator’s own', async () => {
    const made = await deployer.deploy('plain');
    node.filter = {
      hides: [...NO_INDEX, ...NO_TRACES],
      changes: (method, [, block], result) =>
        method === 'eth_getCode' && typeof block === 'string' && block !== 'latest'
          ? new Error('missing trie node')
          : result,
    };
    page = `<a href="/tx/${made.transactionHash}">`;
    await expectFound(made);
    expect((await outcomesOf(made.address)).at(-1)).toBe('explorer_page found');
  });

  test('matches only the runtime bytecode if nothing leads to the creation', async () => {
    const other = await deployer.deploy('plain');
    const { address } = await deployer.deploy('factory');
    node.filter = { hides: [...NO_INDEX, ...NO_TRACES] };
    page = `<a href="/tx/${other.transactionHash}">`;
    const job = await verify(address);
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    expect(await deploymentOf(address)).toMatchObject({ transactionHash: null });
    expect(await outcomesOf(address)).toEqual([
      'submitted_hash not_given',
      'contract_creator not_supported',
      'binary_search traces_unavailable',
      // Without traces, other creations of that transaction are unknown.
      'explorer_page traces_unavailable',
    ]);
    expect(JSON.stringify(await stepsOf(address))).not.toContain(other.transactionHash.slice(2));
  });

  test('uses only the transaction named by the client and keeps no trace of a wrong one', async () => {
    node.filter = {};
    const other = await deployer.deploy('plain');
    const { address } = await deployer.deploy('plain');
    const job = await verify(address, { creationTransactionHash: other.transactionHash });
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    expect(await outcomesOf(address)).toEqual(['submitted_hash created_nothing_here']);
    expect(JSON.stringify(await stepsOf(address))).not.toContain(other.transactionHash.slice(2));
  });
});
