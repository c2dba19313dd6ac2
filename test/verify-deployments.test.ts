import { AbiFunction } from 'ox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { computeCreate2Address } from '../src/chains/rpc/contract-address.ts';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { linkCode } from './support/bytecode/simulated-deployment.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { type WireJob } from './support/verification-client.ts';
import {
  bodyOfSample,
  deploySample,
  expectEvidence,
  inputOfTransaction,
  reasonsOf,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
} from './support/verifying-service.ts';
import { VERIFIED_CHAIN_ID } from './support/anvil.ts';

const START_TIMEOUT_MS = 180_000;
const NEWEST = '0.8.37';
/** The deterministic deployment proxy, part of anvil's genesis. */
const PROXY: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const FULL = { runtimeMatch: 'exact_match', creationMatch: 'exact_match' };
const word = (value: number | string): string => value.toString(16).padStart(64, '0');
const MAKE = AbiFunction.from('function make(uint256 n)');
const MAKE_SALTED = AbiFunction.from('function make(bytes32 salt, uint256 n)');
const LAST = AbiFunction.from('function last() returns (address)');

let verifying: VerifyingService;

async function verify(
  version: SolcVersion,
  name: string,
  address: string,
  creationTransactionHash: string,
  maker = name,
): Promise<WireJob> {
  const sample = await suiteContract(version, name, {}, maker);
  return verifying.verify(address, bodyOfSample(sample, { creationTransactionHash }));
}

/** Calls a factory, which stores the address of its last creation. */
async function makeChild(factory: Hex, data: Hex): Promise<{ child: Hex; hash: Hex }> {
  const { anvil } = verifying;
  const { transactionHash: hash, status } = await anvil.send({ to: factory, data });
  expect(status).toBe('0x1');
  const call = { to: factory, data: AbiFunction.encodeData(LAST) };
  const last = await anvil.request<Hex>('eth_call', [call, 'latest']);
  return { child: `0x${last.slice(-40)}`, hash };
}

async function creationCodeOf(name: string, argument: string, maker = name): Promise<string> {
  const sample = await suiteContract(NEWEST, name, {}, maker);
  return `0x${linkCode(sample, 'creation').toString('hex')}${argument}`;
}

describeWith([ANVIL], 'deployment methods', () => {
  let sender: string;
  beforeAll(async () => {
    verifying = await startVerifyingService();
    sender = checksumAddress(verifying.anvil.account);
  }, START_TIMEOUT_MS);
  afterAll(() => verifying.close());

  test("a plain deployment has the transaction's sender as deployer", async () => {
    const sample = await suiteContract(NEWEST, 'Arguments');
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const job = await verify(NEWEST, 'Arguments', address, transactionHash);
    expect(job.contract).toMatchObject(FULL);
    const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
    const { deployment, creationBytecode } = await expectEvidence(verifying, address, creationCode);
    const receipt = await verifying.anvil.request<{ blockNumber: Hex; transactionIndex: Hex }>(
      'eth_getTransactionReceipt',
      [transactionHash],
    );
    expect(deployment).toEqual({
      transactionHash,
      blockNumber: String(Number(receipt.blockNumber)),
      transactionIndex: String(Number(receipt.transactionIndex)),
      deployer: sender,
    });
    expect(reasonsOf(creationBytecode)).toEqual(['constructorArguments']);
  });

  test.each(['0.4.24', NEWEST] as const)(
    'a factory child has the factory that executed CREATE as deployer (solc %s)',
    async (version) => {
      const maker = await deploySample(verifying.anvil, await suiteContract(version, 'Maker'));
      const { child, hash } = await makeChild(maker.address, AbiFunction.encodeData(MAKE, [77n]));
      const job = await verify(version, 'Child', child, hash, 'Maker');
      expect(job.contract).toMatchObject(FULL);
      const sample = await suiteContract(version, 'Child', {}, 'Maker');
      const creation = linkCode(sample, 'creation').toString('hex');
      const { deployment, creationBytecode } = await expectEvidence(
        verifying,
        child,
        `0x${creation}${word(77)}`,
      );
      expect(deployment).toMatchObject({
        transactionHash: hash,
        deployer: checksumAddress(maker.address),
      });
      expect(creationBytecode.transformationValues).toEqual({
        constructorArguments: `0x${word(77)}`,
      });
    },
  );

  test('a create2 child has its factory as deployer', async () => {
    const salted = await deploySample(verifying.anvil, await suiteContract(NEWEST, 'Salted'));
    const salt: Hex = `0x${'ab'.repeat(32)}`;
    const call = AbiFunction.encodeData(MAKE_SALTED, [salt, 3n]);
    const { child, hash } = await makeChild(salted.address, call);
    const job = await verify(NEWEST, 'Child', child, hash, 'Salted');
    expect(job.contract).toMatchObject(FULL);
    const creationCode = await creationCodeOf('Child', word(3), 'Salted');
    const { deployment } = await expectEvidence(verifying, child, creationCode);
    expect(deployment).toMatchObject({ deployer: checksumAddress(salted.address) });
  });

  test('a contract from the deterministic deployment proxy has the proxy as deployer', async () => {
    const code = (await creationCodeOf('Child', word(5))).slice(2);
    const salt = word('beef');
    const { transactionHash } = await verifying.anvil.send({ to: PROXY, data: `0x${salt}${code}` });
    const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
    const address = computeCreate2Address(PROXY, bytes(salt), bytes(code));
    const job = await verify(NEWEST, 'Child', address, transactionHash);
    expect(job.contract).toMatchObject(FULL);
    const { deployment } = await expectEvidence(verifying, address, `0x${code}`);
    expect(deployment).toMatchObject({ transactionHash, deployer: checksumAddress(PROXY) });
  });

  test('a contract created in a constructor has the contract under construction as deployer', async () => {
    const nest = await deploySample(verifying.anvil, await suiteContract(NEWEST, 'Nest'));
    const first = await verifying.anvil.request<Hex>('eth_getStorageAt', [
      nest.address,
      '0x0',
      'latest',
    ]);
    const child: Hex = `0x${first.slice(-40)}`;
    const job = await verify(NEWEST, 'Child', child, nest.transactionHash, 'Nest');
    expect(job.contract).toMatchObject(FULL);
    const creationCode = await creationCodeOf('Child', word(7), 'Nest');
    const { deployment } = await expectEvidence(verifying, child, creationCode);
    expect(deployment).toMatchObject({
      transactionHash: nest.transactionHash,
      deployer: checksumAddress(nest.address),
    });
  });

  test.each([
    ['0.4.11', []],
    ['0.4.24', ['callProtection']],
    ['0.7.6', ['callProtection']],
    [NEWEST, ['callProtection']],
  ] as const)(
    'the call protection of a library is its own address, where solc %s writes one: %j',
    async (version, reasons) => {
      const sample = await suiteContract(version, 'Sums');
      const { address, transactionHash } = await deploySample(verifying.anvil, sample);
      const job = await verify(version, 'Sums', address, transactionHash);
      expect(job.contract).toMatchObject(FULL);
      const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
      const { runtimeBytecode } = await expectEvidence(verifying, address, creationCode);
      expect(reasonsOf(runtimeBytecode)).toEqual(reasons);
      const { callProtection } = runtimeBytecode.transformationValues ?? {};
      expect(callProtection).toBe(reasons.length === 0 ? undefined : address);
    },
  );

  test.each(['another contract', 'a call', 'a reverted creation', 'an unknown transaction'])(
    'the transaction hash of %s leaves no trace on the runtime match',
    async (what) => {
      const { anvil } = verifying;
      const sample = await suiteContract(NEWEST, 'Child');
      const { address } = await deploySample(anvil, sample);
      const send = async (): Promise<Hex> => {
        if (what === 'another contract') return (await deploySample(anvil, sample)).transactionHash;
        if (what === 'a call') {
          const data = AbiFunction.encodeData(AbiFunction.from('function grow()'));
          return (await anvil.send({ to: address, data })).transactionHash;
        }
        if (what === 'a reverted creation')
          return (await anvil.send({ data: '0xfe' })).transactionHash;
        return `0x${'13'.repeat(32)}`;
      };
      const hash = await send();
      const job = await verify(NEWEST, 'Child', address, hash);
      expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
      const contract = await expectEvidence(verifying, address);
      expect(JSON.stringify(contract)).not.toContain(hash.slice(2));
      expect(contract.deployment).toEqual({
        transactionHash: null,
        blockNumber: null,
        transactionIndex: null,
        deployer: null,
      });
      expect(contract.creationBytecode).toMatchObject({
        onchainBytecode: null,
        transformations: null,
        transformationValues: null,
      });
    },
  );

  test('a creation transaction supplied later upgrades the runtime match', async () => {
    const sample = await suiteContract(NEWEST, 'Child');
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    // Without any hash the creation would be searched for and found.
    const first = await verify(NEWEST, 'Child', address, `0x${'13'.repeat(32)}`);
    expect(first.contract).toMatchObject({ runtimeMatch: 'exact_match', creationMatch: null });
    const second = await verify(NEWEST, 'Child', address, transactionHash);
    expect(second.contract).toMatchObject(FULL);
    const { deployment } = await verifying.contractAt(address);
    expect(deployment).toMatchObject({ transactionHash, deployer: sender });
    const listed = `${verifying.service.apiUrl}/v2/contracts/${VERIFIED_CHAIN_ID}?limit=200`;
    const { results } = (await (await fetch(listed)).json()) as { results: unknown[] };
    await expect
      .poll(async () => JSON.parse(await verifying.statistics()) as unknown)
      .toEqual({ [VERIFIED_CHAIN_ID]: { full_match: results.length, partial_match: 0 } });
  });
});
