// Transactions named as creations that did not create the contract, and true creations that a node cannot
// show.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { computeCreate2Address } from '../src/chains/rpc/contract-address.ts';
import { canDestroyItself } from '../src/chains/rpc/destroyable-code.ts';
import { bytesToHex, checksumAddress, hexToBytes, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { sql } from '../src/store/database.ts';
import { startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { DEPLOYMENT_PROXY, word } from './support/creation-deployments.ts';
import { contractFolder, writeContract } from './support/example-tree.ts';
import { type FilteringNode, prunedNode, startFilteringNode } from './support/filtering-node.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';
import { readContract } from './support/verifying-service.ts';

const STORE_CREATION = sql(
  'test: store another creation',
  `WITH shown AS (SELECT verified_contract_id FROM current_matches WHERE address = $3), other AS (
     INSERT INTO contract_deployments
       (id, chain_id, address, transaction_hash, block_number, transaction_index, deployer, contract_id)
     SELECT gen_random_uuid(), chain_id, address, $1, $2, transaction_index, deployer, contract_id
     FROM contract_deployments WHERE id = (SELECT deployment_id FROM verified_contracts
       WHERE verified_contracts.id = (SELECT verified_contract_id FROM shown)) RETURNING id)
   UPDATE verified_contracts SET deployment_id = (SELECT id FROM other)
   WHERE id = (SELECT verified_contract_id FROM shown) RETURNING id`,
);
const DEPLOY_PROXY = `0x6045600c60003960456000f37f${'ff'.repeat(31)}e03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3`;
const PLAIN = 'uint public x; constructor(uint limit) { x = limit; }';
const IMMUTABLE = 'uint public immutable x; constructor(uint limit) { x = limit; }';
/** More blocks than a pruned node keeps states of. */
const MANY_BLOCKS = '0x90';

/** A contract of a deployment proxy and its submission. */
interface Proxied {
  readonly address: Hex;
  readonly input: TestInput;
  readonly name: string;
  /** A call to the proxy's address before the proxy existed. */
  readonly early: Hex;
  readonly created: Hex;
  readonly createdIn: number;
}

describeWith([ANVIL], 'a false creation transaction', () => {
  let anvil: Anvil;
  let nodes: readonly FilteringNode[];
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let made = 0;

  beforeAll(async () => {
    [anvil, folder, testDatabase] = await Promise.all([
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
      createTestDatabase(),
    ]);
    // The second node is queried if the first returns nothing.
    nodes = await Promise.all([startFilteringNode(anvil.url), startFilteringNode(anvil.url)]);
    const yaml = `
registry: { include: configured, defaults: false }
chains:
  ${VERIFIED_CHAIN_ID}: { name: Test chain, local: true, rpc: [${nodes.map(({ url }) => url).join(', ')}] }
verification: { recheckRoundSeconds: 0 }
`;
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), yaml);
    service = await bootService({ databaseUrl: testDatabase.url, yaml });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(nodes.map((node) => node.close()));
    await anvil.stop();
    await testDatabase.drop();
    await folder.remove();
  });
  afterEach(async () => {
    showAll();
    expect((await recount(testDatabase.database, { repair: false })).differences).toEqual([]);
  });

  const showAll = (): void => {
    for (const node of nodes) node.filter = {};
  };
  const prune = (): void => {
    for (const node of nodes) node.filter = prunedNode(anvil);
  };
  /** Replaces each trace with one without inner calls. */
  const showNoCalls = (node: FilteringNode): void => {
    node.filter = {
      changes: (method, _params, result) =>
        method === 'debug_traceTransaction' ? { ...(result as object), calls: [] } : result,
    };
  };
  /** Besu's response without the state of a transaction. */
  const showEmptyTraces = (): void => {
    for (const node of nodes) {
      node.filter = {
        hides: ['debug_traceTransaction', 'ots_getContractCreator'],
        changes: (method, _params, result) => (method === 'trace_transaction' ? [] : result),
      };
    }
  };

  const mine = (): Promise<unknown> => anvil.request('anvil_mine', [MANY_BLOCKS]);
  /** Its metadata hash, which is also read as code, contains no opcode that could destroy it. */
  const compile = async (body: string, settings = {}) => {
    for (;;) {
      const name = `Vault${(made += 1)}`;
      const input = inputOf({ 'V.sol': `contract ${name} { ${body} }` }, settings);
      const { creationCode } = await compileAsDeveloper('0.8.37', input, 'V.sol', name);
      const init = `${creationCode}${word(9)}`;
      if (!canDestroyItself(Buffer.from(init, 'hex'))) return { input, name, init };
    }
  };
  const addressOf = (proxy: Hex, init: string): Hex =>
    computeCreate2Address(proxy, Buffer.from(word(5), 'hex'), Buffer.from(init, 'hex'));
  /** Calls a proxy, deploys it, and calls it again. */
  const makeBehindNewProxy = async (body: string, settings = {}): Promise<Proxied> => {
    const { input, name, init } = await compile(body, settings);
    // The nonce of an account that has sent fewer than 128 transactions.
    const nonce = Number(await anvil.request('eth_getTransactionCount', [anvil.account, 'latest']));
    const encoded = Buffer.of(0xd6, 0x94, ...hexToBytes(anvil.account), nonce + 1);
    const proxy = bytesToHex(keccak256(encoded).subarray(12));
    const call = { to: proxy, data: `0x${word(5)}${init}` } as const;
    const early = await anvil.send(call);
    await mine();
    expect((await anvil.send({ data: DEPLOY_PROXY })).contractAddress).toBe(proxy);
    const created = await anvil.send(call);
    const hashes = { early: early.transactionHash, created: created.transactionHash };
    const createdIn = Number(created.blockNumber);
    return { address: addressOf(proxy, init), input, name, ...hashes, createdIn };
  };
  const makeByProxy = async (body: string): Promise<Proxied> => {
    const { input, name, init } = await compile(body);
    const idle = await anvil.send({ to: DEPLOYMENT_PROXY.replace('0x4', '0x5') as Hex });
    const sent = await anvil.send({ to: DEPLOYMENT_PROXY, data: `0x${word(5)}${init}` });
    const hashes = { early: idle.transactionHash, created: sent.transactionHash };
    const createdIn = Number(sent.blockNumber);
    return { address: addressOf(DEPLOYMENT_PROXY, init), input, name, ...hashes, createdIn };
  };

  const bodyOf = ({ input, name }: Proxied, creationTransactionHash?: Hex, source?: string) => ({
    stdJsonInput: source === undefined ? input : inputOf({ 'V.sol': source }),
    compilerVersion: '0.8.37',
    contractIdentifier: `V.sol:${name}`,
    ...(creationTransactionHash && { creationTransactionHash }),
  });
  const verify = async (contract: Proxied, named?: Hex, source?: string) => {
    const body = bodyOf(contract, named, source);
    const job = await verifyOverV2(service.apiUrl, contract.address, body);
    return job.error?.customCode ?? job.contract.creationMatch;
  };
  const isRefused = async (contract: Proxied, named: Hex): Promise<void> => {
    const url = `${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${contract.address}`;
    expect((await post(url, bodyOf(contract, named))).status).toBe(409);
  };
  const fullmatch = (...args: readonly string[]) =>
    runInProcess(args, {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  const recheck = async ({ address }: Proxied): Promise<string | undefined> => {
    const { stdout } = await fullmatch('recheck', String(VERIFIED_CHAIN_ID), address, '--json');
    return (JSON.parse(stdout) as { outcome: string }[])[0]?.outcome;
  };
  const shown = async ({ address }: Proxied) => {
    const contract = await readContract(service, VERIFIED_CHAIN_ID, address);
    const { runtimeMatch, creationMatch, deployment } = contract;
    return { runtimeMatch, creationMatch, transactionHash: deployment?.['transactionHash'] };
  };
  const exactBy = (transactionHash: Hex) => ({
    runtimeMatch: 'exact_match',
    creationMatch: 'exact_match',
    transactionHash,
  });
  const importClaim = async ({ address, input, name }: Proxied, named: Hex): Promise<void> => {
    const { metadata } = await compileAsDeveloper('0.8.37', input, 'V.sol', name);
    const root = path.join(folder.path, `tree-${name}`);
    const place = { chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    const at = contractFolder(root, { match: 'full', ...place });
    const sources = { 'V.sol': input.sources['V.sol']?.content ?? '' };
    const template = { metadata, sources, facts: {}, name, targetPath: 'V.sol' };
    await writeContract(at, template, { layout: 'v1' });
    await writeFile(path.join(at, 'creator-tx-hash.txt'), named);
    expect((await fullmatch('import', root)).exitCode).toBe(0);
  };

  test('calling the proxy before deployment is rejected and does no harm', async () => {
    prune();
    const contract = await makeBehindNewProxy(IMMUTABLE);
    expect(await verify(contract, contract.early)).toBe(null);
    expect(await verify(contract, contract.created)).toBe('exact_match');
    expect(await shown(contract)).toEqual(exactBy(contract.created));
    await mine();
    const other = await makeBehindNewProxy(IMMUTABLE);
    await mine();
    expect(await verify(other)).toBe(null);
    const unknown = { ...exactBy(other.early), creationMatch: null, transactionHash: null };
    expect(await shown(other)).toEqual(unknown);
    for (const named of [other.early, other.created]) expect(await verify(other, named)).toBe(null);
    const wrong = `contract ${other.name} { uint y; }`;
    expect(await verify(other, other.created, wrong)).toBe('bytecode_length_mismatch');
    expect(await shown(other)).toEqual(unknown);
  });

  test('is replaced by the true one for good, whatever the bytecode', async () => {
    prune();
    const contract = await makeBehindNewProxy(PLAIN, { metadata: { bytecodeHash: 'none' } });
    await verify(contract, contract.created);
    const bytes = [contract.early, contract.address].map(hexToBytes);
    const values = [bytes[0], contract.createdIn - 1, bytes[1]];
    expect(await testDatabase.database.query(STORE_CREATION, values)).toHaveLength(1);
    await verify(contract, contract.created);
    expect(await shown(contract)).toEqual({
      ...{ runtimeMatch: 'match', creationMatch: 'match' },
      transactionHash: contract.created,
    });
  });

  test('disproved by a trace does not return without one', async () => {
    const contract = await makeBehindNewProxy(PLAIN);
    await verify(contract, contract.created);
    nodes.forEach(showNoCalls);
    expect(await recheck(contract)).toBe('creation_disproved');
    prune();
    expect(await verify(contract, contract.created)).toBe(null);
    showAll();
    expect(await verify(contract, contract.created)).toBe('exact_match');
    expect(await shown(contract)).toEqual(exactBy(contract.created));
  });

  test('does not displace a later imported one that a recheck proved', async () => {
    const contract = await makeBehindNewProxy(PLAIN);
    await importClaim(contract, contract.created);
    expect(await recheck(contract)).toBe('unknown_code');
    // A node that shows the creation in the wrong transaction.
    const tree = await anvil.request<object>('debug_traceTransaction', [
      contract.created,
      { tracer: 'callTracer' },
    ]);
    await mine();
    const { changes } = prunedNode(anvil);
    for (const node of nodes) {
      node.filter = {
        changes: (method, params, result) =>
          method === 'debug_traceTransaction' && params[0] === contract.early
            ? tree
            : changes!(method, params, result),
      };
    }
    const commented = `${contract.input.sources['V.sol']?.content ?? ''}// other`;
    await verify(contract, contract.early, commented);
    expect(await shown(contract)).toMatchObject({ transactionHash: contract.created });
  });

  test.each([
    ['plain', PLAIN],
    ['with an immutable', IMMUTABLE],
  ])('is not inferred for a true one from an empty trace: %s', async (_kind, body) => {
    const contract = await makeByProxy(body);
    await verify(contract, contract.created);
    showEmptyTraces();
    await isRefused(contract, contract.created);
    await isRefused(contract, contract.early);
    expect(await recheck(contract)).toBe('same');
    await mine();
    for (const node of nodes) {
      const { changes } = prunedNode(anvil);
      const { filter } = node;
      node.filter = {
        ...filter,
        changes: async (method, params, result) =>
          changes!(method, params, await filter.changes!(method, params, result)),
      };
    }
    expect(await recheck(contract)).toBe('same');
    expect(await shown(contract)).toEqual(exactBy(contract.created));
  });

  test('is not inferred for an imported true one from an empty trace', async () => {
    const contract = await makeByProxy(PLAIN);
    await importClaim(contract, contract.created);
    expect(await recheck(contract)).toBe('unknown_code');
    showEmptyTraces();
    expect(await recheck(contract)).toBe('unknown_code');
    expect(await shown(contract)).toMatchObject({ transactionHash: contract.created });
  });

  test("is not inferred for a true one from a single node's denial", async () => {
    const contract = await makeByProxy(IMMUTABLE);
    await verify(contract, contract.created);
    showNoCalls(nodes[0]!);
    expect(await recheck(contract)).toBe('same');
    expect(await shown(contract)).toEqual(exactBy(contract.created));
    nodes.forEach(showNoCalls);
    expect(await recheck(contract)).toBe('creation_disproved');
  });
});
