import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { word } from './support/creation-deployments.ts';
import {
  type FilteringNode,
  type NodeFilter,
  startFilteringNode,
} from './support/filtering-node.ts';
import { ANVIL, LINUX, describeWith } from './support/needs.ts';
import { OWNED_BODY, OWNED_INPUT } from './support/owned-contract.ts';
import { createReplaceableContracts } from './support/replaceable-contracts.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';

/** Addresses of this machine: endpoints on three hosts count as independent. */
const HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const WITHOUT_TRACES: NodeFilter = {
  hides: [
    'debug_traceTransaction',
    'trace_transaction',
    'trace_block',
    'debug_traceBlockByNumber',
    'debug_traceBlockByHash',
  ],
};
/** The index of transactions is pruned. */
const FORGETFUL: NodeFilter = {
  ...WITHOUT_TRACES,
  changes: (method, _params, result) =>
    method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash' ? null : result,
};
const OTHER_CODE = '0x600160015500';

describeWith([ANVIL, LINUX], 'a creation denied by one of three endpoints', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let nodes: readonly FilteringNode[];
  let address: Hex;
  let creation: { readonly transactionHash: Hex; readonly blockHash: Hex };
  let body: object;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  const filter = (...filters: readonly NodeFilter[]): void => {
    for (const [index, node] of nodes.entries()) node.filter = filters[index] ?? {};
  };
  /** One endpoint shows other bytecode right after the contract's creation. */
  const lying = (): NodeFilter => ({
    changes: (method, params, result) => {
      const [of, at] = params as [string, { readonly blockHash?: Hex } | string];
      const isAfter = typeof at === 'object' && at.blockHash === creation.blockHash;
      return method === 'eth_getCode' && of.toLowerCase() === address && isAfter
        ? OTHER_CODE
        : result;
    },
  });
  /** One endpoint shows old states as empty. */
  const empty = (): NodeFilter => ({
    changes: (method, params, result) => {
      const isOld = typeof params[1] === 'string' && /^0x[0-9a-f]+$/.test(params[1]);
      if (!isOld) return result;
      if (method === 'eth_getCode') return '0x';
      return method === 'eth_getTransactionCount' ? '0x0' : result;
    },
  });
  const expectUntouched = async (): Promise<void> => {
    const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`;
    expect(await (await fetch(url)).json()).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
    const events = `${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    expect(await (await fetch(events)).json()).toMatchObject({ results: [{ kind: 'stored' }] });
  };

  beforeAll(async () => {
    [anvil, testDatabase, folder] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID, hardfork: 'shanghai' }),
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
    const contracts = await createReplaceableContracts(anvil);
    address = contracts.madeByNonce;
    const { creationCode } = await compileAsDeveloper('0.8.37', OWNED_INPUT, 'Owned.sol', 'Owned');
    creation = await contracts.makeByNonce(`0x${creationCode}${word(1)}`);
    await anvil.request('anvil_mine', ['0x40']);
    body = { ...OWNED_BODY, creationTransactionHash: creation.transactionHash };
    await verifyOverV2(service.apiUrl, address, body);
    await expectUntouched();
  });
  beforeEach(() => filter());
  afterAll(async () => {
    await service.close();
    await Promise.all(nodes.map((node) => node.close()));
    await anvil.stop();
    await testDatabase.drop();
    await folder.remove();
  });

  test.each([
    ['lies and the others have no traces', () => filter(lying(), WITHOUT_TRACES, WITHOUT_TRACES)],
    ['lies and the others have no old transactions', () => filter(lying(), FORGETFUL, FORGETFUL)],
    ['shows forgotten states as empty', () => filter(empty(), WITHOUT_TRACES, WITHOUT_TRACES)],
    ['and another show forgotten states as empty', () => filter(empty(), empty(), WITHOUT_TRACES)],
  ])('stays matched when it %s', async (_title, deny) => {
    deny();
    const submitted = await post(
      `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`,
      body,
    );
    expect(submitted.status).toBe(409);
    const { stdout } = await runInProcess(
      ['recheck', String(VERIFIED_CHAIN_ID), address, '--json'],
      { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
    );
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'same' }]);
    await expectUntouched();
  });

  test('is withdrawn when two of three endpoints report other bytecode from its transaction', async () => {
    filter(lying(), lying(), WITHOUT_TRACES);
    const { stdout } = await runInProcess(
      ['recheck', String(VERIFIED_CHAIN_ID), address, '--json'],
      { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
    );
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'creation_disproved' }]);
    filter();
    // The states that disproved it have changed, so proofs count again.
    const { contract } = await verifyOverV2(service.apiUrl, address, body);
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: 'exact_match' });
  });
});
