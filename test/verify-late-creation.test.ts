// Contracts verified before their creation transaction was known.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { recount } from '../src/repository/statistics/recount.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { word } from './support/creation-deployments.ts';
import { type FilteringNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';
import { readContract, readSettledStatistics } from './support/verifying-service.ts';

/** Methods with whose results a creation is found or proved. */
const CREATION_METHODS = [
  'debug_traceTransaction',
  'trace_transaction',
  'trace_block',
  'trace_filter',
  'ots_getContractCreator',
  'eth_getTransactionReceipt',
  'eth_getBlockReceipts',
];
const vault = (comment: string, start = '5') =>
  inputOf({
    'V.sol': `// ${comment}
      contract Vault { uint256 public immutable limit; address public owner = msg.sender; uint256 public x = ${start};
        constructor(uint256 limit_) { limit = limit_; } }`,
  });

describeWith([ANVIL], 'a creation transaction found late', () => {
  let anvil: Anvil;
  let node: FilteringNode;
  let testDatabase: TestDatabase;
  let service: BootedService;

  beforeAll(async () => {
    [anvil, testDatabase] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTestDatabase(),
    ]);
    node = await startFilteringNode(anvil.url);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(node, 'verification: { recheckRoundSeconds: 0 }\n'),
    });
  });
  afterAll(async () => {
    await service.close();
    await node.close();
    await anvil.stop();
    await testDatabase.drop();
  });
  beforeEach(() => {
    node.filter = { hides: CREATION_METHODS };
  });

  const verify = (address: string, input: object, more: object = {}) =>
    verifyOverV2(service.apiUrl, address, {
      stdJsonInput: input,
      compilerVersion: '0.8.37',
      contractIdentifier: 'V.sol:Vault',
      ...more,
    });
  const answerOf = async (path: string): Promise<unknown> =>
    (await fetch(`${service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${path}`)).json();
  const unprovenOf = async (address: string) =>
    ((await answerOf(address)) as { unproven: readonly string[] }).unproven;
  const kindsOf = async (address: string) => {
    const { results } = (await answerOf(`${address}/events`)) as { results: { kind: string }[] };
    return results.map(({ kind }) => kind).reverse();
  };
  const deployVault = async () => {
    const { creationCode } = await compileAsDeveloper('0.8.37', vault('true'), 'V.sol', 'Vault');
    return deploy(anvil, creationCode, word(9));
  };
  /** Deploys the runtime bytecode of a vault with different creation bytecode. */
  const deployForged = async () => {
    const { address } = await deployVault();
    const runtime = await anvil.request<string>('eth_getCode', [address, 'latest']);
    const size = ((runtime.length - 2) / 2).toString(16).padStart(4, '0');
    return deploy(anvil, `61${size}80600a5f395ff3`.padEnd(20, '0') + runtime.slice(2));
  };
  const nameCreation = async (address: string, transactionHash: string, input: object) => {
    const counts = await readSettledStatistics(service, testDatabase.database);
    node.filter = {};
    const job = await verify(address, input, { creationTransactionHash: transactionHash });
    expect(await readSettledStatistics(service, testDatabase.database)).toBe(counts);
    const { differences } = await recount(testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
    return job;
  };

  test.each([
    ['full', 'true'],
    ['partial', 'another'],
  ])(
    'is attached to a %s match even if other bytecode created the contract',
    async (_match, comment) => {
      const { address, transactionHash } = await deployForged();
      await verify(address, vault(comment));
      expect(await unprovenOf(address)).not.toContain('creation');
      const { contract } = await nameCreation(address, transactionHash, vault(comment));
      expect(contract).toMatchObject({
        creationMatch: null,
        matchId: expect.any(String) as string,
      });
      const shown = await readContract(service, VERIFIED_CHAIN_ID, address);
      expect(shown).toMatchObject({ creationMatch: null, deployment: { transactionHash } });
      expect(await unprovenOf(address)).toContain('creation');
      expect(await kindsOf(address)).toEqual(['stored', 'upgraded']);
      await verify(address, vault(comment), { creationTransactionHash: transactionHash });
      expect(await kindsOf(address)).toEqual(['stored', 'upgraded']);
    },
  );

  test('is attached to the shown text, whose own creation bytecode is compared', async () => {
    const { address, transactionHash } = await deployVault();
    await verify(address, vault('shown'));
    expect(await unprovenOf(address)).toContain('immutables');
    // The same runtime bytecode and another constructor.
    const other = vault('another', '6');
    expect((await verify(address, other)).contract).toMatchObject({ runtimeMatch: 'match' });
    await nameCreation(address, transactionHash, other);
    const shown = await readContract(service, VERIFIED_CHAIN_ID, address);
    expect(shown).toMatchObject({
      runtimeMatch: 'match',
      creationMatch: 'match',
      deployment: { transactionHash },
      sources: { 'V.sol': vault('shown').sources['V.sol'] },
    });
    expect(shown.creationBytecode.transformations).toMatchObject([
      { reason: 'cborAuxdata' },
      { reason: 'constructorArguments' },
    ]);
    expect(await unprovenOf(address)).not.toContain('immutables');
    expect(await kindsOf(address)).toEqual(['stored', 'upgraded']);
  });

  test('proven for one text is kept for the next, whose submission names another', async () => {
    const { address, transactionHash } = await deployVault();
    const { transactionHash: unrelated } = await deployVault();
    const creationBlock = await anvil.request<string>('eth_blockNumber', []);
    await anvil.request('anvil_mine', ['0x100']);
    // A typical node: it has transactions, but neither traces nor old states.
    const hides = CREATION_METHODS.filter((method) => method !== 'eth_getTransactionReceipt');
    node.filter = {
      hides,
      changes: (method, [, block], result) =>
        method === 'eth_getCode' &&
        typeof block === 'string' &&
        Number(block) <= Number(creationBlock)
          ? new Error('missing trie node')
          : result,
    };
    await verify(address, vault('partial'), { creationTransactionHash: transactionHash });
    const named = { creationTransactionHash: unrelated };
    const { contract } = await verify(address, vault('true'), named);
    expect(contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: 'exact_match' });
    const { deployment } = await readContract(service, VERIFIED_CHAIN_ID, address);
    expect(deployment).toMatchObject({ transactionHash });
    expect(await unprovenOf(address)).not.toContain('immutables');
  });

  test('is not attached if the submission matches other bytecode', async () => {
    const { address, transactionHash } = await deployVault();
    await verify(address, vault('true'));
    node.filter = {};
    const wrong = inputOf({ 'V.sol': 'contract Vault { uint256 public z = 1; }' });
    const { error } = await verify(address, wrong, { creationTransactionHash: transactionHash });
    expect(error?.customCode).toMatch(/no_match|bytecode_length_mismatch/);
    expect(await kindsOf(address)).toEqual(['stored']);
  });
});
