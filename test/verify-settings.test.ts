import { AbiParameters } from 'ox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ERC721_ENUMERABLE,
  gatherContract,
  GOVERNOR,
  type BenchmarkContract,
} from '../bench/compiler-inputs.ts';
import { type Hex } from '../src/lib/hex.ts';
import { compileSamples } from './support/bytecode/compiled-suite.ts';
import { YUL_SOURCE } from './support/bytecode/suite-source.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';
import { deploy } from './support/anvil.ts';
import { compileAsDeveloper, type TestInput } from './support/developer.ts';
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

const NEWEST = '0.8.37';
const both = (match: string): object => ({ match, runtimeMatch: match, creationMatch: match });
let verifying: VerifyingService;

const TOKEN = gatherContract(
  'Coin',
  `import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
contract Coin is ERC20 { constructor(string memory name, uint256 amount) ERC20(name, "C") { _mint(msg.sender, amount); } }`,
);
const OWNER: Hex = '0x00000000000000000000000000000000000a11ce';
const encode = (types: string, values: readonly unknown[]): string =>
  AbiParameters.encode(AbiParameters.from(types), values).slice(2);

describeWith([ANVIL], 'settings, languages and libraries', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  });
  afterAll(() => verifying.close());

  const cases: readonly (readonly [SolcVersion, string, object, string])[] = [
    ['0.6.12', 'bytecodeHash none', { metadata: { bytecodeHash: 'none' } }, 'match'],
    [NEWEST, 'bytecodeHash none', { metadata: { bytecodeHash: 'none' } }, 'match'],
    [NEWEST, 'bytecodeHash bzzr1', { metadata: { bytecodeHash: 'bzzr1' } }, 'exact_match'],
    ['0.8.20', 'appendCBOR false', { metadata: { appendCBOR: false } }, 'match'],
    [NEWEST, 'appendCBOR false', { metadata: { appendCBOR: false } }, 'match'],
    ['0.8.20', 'viaIR', { viaIR: true }, 'exact_match'],
    [NEWEST, 'viaIR', { viaIR: true }, 'exact_match'],
  ];
  test.skipIf(IS_SLOW_SUITE).each(cases)(
    'bytecode of solc %s with %s has the best possible match: %j → %s',
    async (version, _title, settings, match) => {
      const sample = await suiteContract(version, 'Nest', { ...settings });
      const { address, transactionHash } = await deploySample(verifying.anvil, sample);
      const more = { creationTransactionHash: transactionHash };
      const job = await verifying.verify(address, bodyOfSample(sample, more));
      expect(job.contract).toMatchObject(both(match));
      const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
      const contract = await expectEvidence(verifying, address, creationCode);
      expect(reasonsOf(contract.runtimeBytecode)).toEqual([]);
      expect(contract.compilation).toMatchObject({ compilerSettings: settings });
    },
  );

  const linked = ['Immutables', 'Linked', 'Sums'];
  test.skipIf(IS_SLOW_SUITE).each(linked)('bytecode via IR too, %s', async (name) => {
    const settings = { viaIR: true };
    const sums = await suiteContract(NEWEST, 'Sums', settings);
    const products = await suiteContract(NEWEST, 'Products', settings);
    const libraries = {
      Sums: (await deploySample(verifying.anvil, sums)).address,
      Products: (await deploySample(verifying.anvil, products)).address,
    };
    const sample = await suiteContract(NEWEST, name, settings);
    const { address, transactionHash } = await deploySample(verifying.anvil, sample, libraries);
    const more = { creationTransactionHash: transactionHash };
    const job = await verifying.verify(address, bodyOfSample(sample, more));
    expect(job.contract).toMatchObject(both('exact_match'));
    const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
    const { runtimeBytecode } = await expectEvidence(verifying, address, creationCode);
    // The address of a library is in an immutable here.
    expect(reasonsOf(runtimeBytecode)).toEqual([name === 'Linked' ? 'library' : 'immutable']);
    const { immutables } = runtimeBytecode.transformationValues ?? {};
    if (name === 'Sums') {
      const value = `0x${address.slice(2).padStart(64, '0')}`;
      expect(immutables).toEqual({ library_deploy_address: value });
    }
  });

  test.skipIf(IS_SLOW_SUITE)(
    'bytecode of other settings matches in part only if they are part of the metadata',
    async () => {
      const sample = await suiteContract(NEWEST, 'Plain');
      const hashless = await suiteContract(NEWEST, 'Plain', { metadata: { bytecodeHash: 'none' } });
      const { address } = await deploySample(verifying.anvil, sample);
      const partial = await verifying.verify(address, bodyOfSample(hashless));
      expect(partial.contract).toMatchObject({ match: 'match' });
      const other = await suiteContract(NEWEST, 'Plain', { optimizer: { enabled: false } });
      const { address: another } = await deploySample(verifying.anvil, sample);
      const job = await verifying.verify(another, bodyOfSample(other));
      expect(job.error?.customCode).toBe('bytecode_length_mismatch');
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'Yul matches in part at most, and not at all when a byte differs',
    async () => {
      const [sample] = await compileSamples(NEWEST, {
        yul: {
          language: 'Yul',
          sources: { 'Echo.yul': { content: YUL_SOURCE } },
          settings: { optimizer: { enabled: true, runs: 200 } },
        },
      });
      if (sample === undefined) throw new Error('the Yul program gave no code');
      const { address, transactionHash } = await deploySample(verifying.anvil, sample);
      const more = { creationTransactionHash: transactionHash };
      const other = bodyOfSample(sample, more, (content) =>
        content.replace('return(0, calldatasize())', 'revert(0, calldatasize())'),
      );
      expect((await verifying.verify(address, other)).error?.customCode).toBe('no_match');
      const job = await verifying.verify(address, bodyOfSample(sample, more));
      expect(job.contract).toMatchObject(both('match'));
      const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
      const contract = await expectEvidence(verifying, address, creationCode);
      expect(contract.compilation).toMatchObject({ language: 'Yul', compiler: 'solc' });
    },
  );

  test.skipIf(IS_SLOW_SUITE)('a language without a compiler here is rejected by name', async () => {
    const { address } = await deploySample(verifying.anvil, await suiteContract(NEWEST, 'Plain'));
    const job = await verifying.verify(address, {
      stdJsonInput: {
        language: 'Fe',
        sources: { 'a.fe': { content: 'contract A:\n    pass\n' } },
        settings: { outputSelection: { '*': ['*'] } },
      },
      compilerVersion: '0.19.1',
      contractIdentifier: 'a.fe:A',
    });
    expect(job.error?.customCode).toBe('unsupported_language');
    expect((await verifying.contractAt(address)).match).toBeNull();
  });

  const libraries: readonly (readonly [string, BenchmarkContract, string])[] = [
    ['ERC20', TOKEN, encode('string name, uint256 amount', ['Coin of the tests', 10n ** 24n])],
    ['ERC721Enumerable', ERC721_ENUMERABLE, ''],
    ['a Governor of several extensions', GOVERNOR, encode('address t', [OWNER])],
  ];
  test.each(IS_SLOW_SUITE ? libraries.slice(1) : libraries.slice(0, 1))(
    'OpenZeppelin 5, %s: full, and partial after a changed comment in an imported source',
    async (_title, { name, target, input }, given) => {
      const developers = input as TestInput;
      const { creationCode } = await compileAsDeveloper(NEWEST, developers, target.path, name);
      const { address, transactionHash } = await deploy(verifying.anvil, creationCode, given);
      const verify = (sources: TestInput['sources']): ReturnType<typeof verifying.verify> =>
        verifying.verify(address, {
          stdJsonInput: { ...developers, sources },
          compilerVersion: NEWEST,
          contractIdentifier: `${target.path}:${name}`,
          creationTransactionHash: transactionHash,
        });
      const imported = Object.keys(input.sources).find((path) => path.endsWith('/Context.sol'));
      const { content } = developers.sources[imported ?? ''] ?? { content: '' };
      const edited = { ...developers.sources, [imported ?? '']: { content: `${content}// x\n` } };
      expect((await verify(edited)).contract).toMatchObject(both('match'));
      expect((await verify(developers.sources)).contract).toMatchObject(both('exact_match'));
      const sent = await inputOfTransaction(verifying.anvil, transactionHash);
      const contract = await expectEvidence(verifying, address, sent);
      expect(Object.keys(contract.sources).sort()).toEqual(Object.keys(input.sources).sort());
      const { constructorArguments } = contract.creationBytecode.transformationValues ?? {};
      expect(constructorArguments).toBe(given === '' ? undefined : `0x${given}`);
    },
  );
});
