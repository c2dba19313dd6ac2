import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { suiteSource } from './support/bytecode/suite-source.ts';
import { compileInChild, type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { inputOf, type TestInput } from './support/developer.ts';
import { type WireJob } from './support/verification-client.ts';
import {
  deploySample,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
} from './support/verifying-service.ts';

const NEWEST = '0.8.37';
const PATH = 'a.sol';
/** A transaction that was never sent: it disables the creation search. */
const UNKNOWN = `0x${'13'.repeat(32)}`;
const SUITE = 'contracts/Suite.sol';
const word = (value: number | string): string => value.toString(16).padStart(64, '0');

interface Output {
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly evm: {
              readonly bytecode: { readonly object: string };
              readonly deployedBytecode: {
                readonly object: string;
                readonly immutableReferences?: Readonly<
                  Record<string, readonly { readonly start: number }[]>
                >;
              };
            };
          }
        >
      >
    >
  >;
}

interface Codes {
  readonly creation: string;
  readonly runtime: string;
  readonly immutables: readonly (readonly number[])[];
}

async function compile(
  version: SolcVersion,
  { language, sources, settings }: TestInput,
  name: string,
): Promise<Codes> {
  const outputSelection = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode'] } };
  const input = { language, sources, settings: { ...settings, outputSelection } };
  const [output] = await compileInChild<Output>(version, [input]);
  const [contracts] = Object.values(output?.contracts ?? {});
  const evm = contracts?.[name]?.evm;
  if (evm === undefined) throw new Error(`nothing compiled: ${JSON.stringify(output)}`);
  const { object, immutableReferences = {} } = evm.deployedBytecode;
  return {
    creation: evm.bytecode.object,
    runtime: object,
    immutables: Object.values(immutableReferences).map((slots) => slots.map(({ start }) => start)),
  };
}

/** Creation bytecode that returns any runtime bytecode. */
function initCodeOf(runtime: string): string {
  const length = (runtime.length / 2).toString(16).padStart(4, '0');
  return `61${length}80600a3d393df3${runtime}`;
}

function patch(runtime: string, at: readonly number[], hex: string): string {
  return at.reduce(
    (code, start) => code.slice(0, 2 * start) + hex + code.slice(2 * start + hex.length),
    runtime,
  );
}

let verifying: VerifyingService;

function verify(
  address: string,
  version: string,
  input: TestInput,
  identifier: string,
  creationTransactionHash: string,
): Promise<WireJob> {
  return verifying.verify(address, {
    stdJsonInput: input,
    compilerVersion: version,
    contractIdentifier: identifier,
    creationTransactionHash,
  });
}

async function expectNothingPublished(address: string): Promise<void> {
  expect((await verifying.contractAt(address)).match).toBeNull();
}

const evidenceOf = async (address: string): Promise<{ readonly unproven: readonly string[] }> => {
  const url = `${verifying.service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
  return (await (await fetch(url)).json()) as { unproven: string[] };
};

describeWith([ANVIL], 'forged contracts', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  });
  afterAll(() => verifying.close());

  test('a constructor that returns other bytecode does not match, and the failure says so', async () => {
    const input = inputOf({
      [PATH]:
        'contract Odd { constructor() { assembly { mstore(0, 0x33ff) return(30, 2) } } function safe() external {} }',
    });
    const { creation } = await compile(NEWEST, input, 'Odd');
    const { address, transactionHash } = await deploy(verifying.anvil, creation);
    const job = await verify(address, NEWEST, input, `${PATH}:Odd`, transactionHash);
    expect(job.error).toMatchObject({ customCode: 'bytecode_length_mismatch' });
    const state = await fetch(`${verifying.service.apiUrl}/v1/jobs/${job.verificationId}`);
    expect(await state.json()).toMatchObject({
      runtimeMatch: null,
      creationMatch: null,
      failure: { data: { creation: { match: 'partial' } } },
    });
    await expectNothingPublished(address);
  });

  const TYPED = `enum Color { Red, Green }
contract Typed { TYPE immutable value; constructor(TYPE value_) { value = value_; } function get() external view returns (TYPE) { return value; } }`;
  test.each([
    ['uint8', word('1ff'), word(255)],
    ['bool', word(2), word(1)],
    ['Color', word(2), word(1)],
    ['address', `01${'00'.repeat(11)}${'aa'.repeat(20)}`, word('aa'.repeat(20))],
    ['bytes4', `feedbeef${word(1).slice(8)}`, 'feedbeef'.padEnd(64, '0')],
    ['int16', word('ffff'), 'ff'.repeat(32)],
  ])('an immutable of type %s has no value outside its type', async (type, forged, honest) => {
    const input = inputOf({ [PATH]: TYPED.replaceAll('TYPE', type) });
    const { creation, runtime, immutables } = await compile(NEWEST, input, 'Typed');
    const at = immutables[0] ?? [];
    const bad = await deploy(verifying.anvil, initCodeOf(patch(runtime, at, forged)));
    for (const hash of [UNKNOWN, bad.transactionHash]) {
      const job = await verify(bad.address, NEWEST, input, `${PATH}:Typed`, hash);
      expect(job.error).toMatchObject({ customCode: 'immutable_out_of_range' });
    }
    await expectNothingPublished(bad.address);
    const good = await deploy(verifying.anvil, creation, honest);
    const unproven = await verify(good.address, NEWEST, input, `${PATH}:Typed`, UNKNOWN);
    expect(unproven.contract).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: null,
    });
    expect(await evidenceOf(good.address)).toMatchObject({
      unproven: ['immutables', 'storage'],
    });
    const { runtimeBytecode } = await verifying.contractAt(good.address);
    expect(runtimeBytecode).toMatchObject({ unprovenValues: ['immutables'] });
    const { transactionHash } = good;
    const proven = await verify(good.address, NEWEST, input, `${PATH}:Typed`, transactionHash);
    expect(proven.contract).toMatchObject({ creationMatch: 'exact_match' });
    expect(await evidenceOf(good.address)).toMatchObject({ unproven: [] });
  });

  test('a forged internal function does not match, and an honest one requires its creation', async () => {
    const input = inputOf({
      [PATH]: `contract Pointed { function() internal immutable done; constructor() { done = stay; } function stay() internal {} function go() external { done(); } function drain() external { require(msg.sender == address(1)); payable(msg.sender).transfer(address(this).balance); } }`,
    });
    const { creation, runtime, immutables } = await compile(NEWEST, input, 'Pointed');
    const forged = await deploy(
      verifying.anvil,
      initCodeOf(patch(runtime, immutables[0] ?? [], word(0x42))),
    );
    const target = `${PATH}:Pointed`;
    const { address, transactionHash } = forged;
    const unknown = await verify(address, NEWEST, input, target, UNKNOWN);
    expect(unknown.error).toMatchObject({ customCode: 'immutable_not_proven' });
    const known = await verify(address, NEWEST, input, target, transactionHash);
    expect(known.error).toMatchObject({ customCode: 'no_match' });
    await expectNothingPublished(address);
    const honest = await deploy(verifying.anvil, creation);
    const without = await verify(honest.address, NEWEST, input, target, UNKNOWN);
    expect(without.error).toMatchObject({ customCode: 'immutable_not_proven' });
    const job = await verify(honest.address, NEWEST, input, target, honest.transactionHash);
    expect(job.contract).toMatchObject({
      runtimeMatch: 'exact_match',
      creationMatch: 'exact_match',
    });
  });

  const LIBRARIES: readonly (readonly [string, Hex, string | undefined])[] = [
    ['nowhere', `0x${'00'.repeat(20)}`, undefined],
    ['a precompiled contract', `0x${'04'.padStart(40, '0')}`, undefined],
    ['an account', `0x${'e0a'.padStart(40, '7')}`, undefined],
    ['an account that delegates', `0x${'e0b'.padStart(40, '7')}`, `0xef0100${'aa'.repeat(20)}`],
  ];
  test.each(LIBRARIES)(
    'a library is not %s, linked by the deployer or in the settings',
    async (_what, library, code) => {
      const { anvil } = verifying;
      if (code !== undefined) await anvil.request('anvil_setCode', [library, code]);
      const other = `0x${'5a'.repeat(20)}`;
      await anvil.request('anvil_setCode', [other, '0x00']);
      const addresses = { Sums: library, Products: other };
      const sample = await suiteContract(NEWEST, 'Linked');
      const linked = await deploySample(anvil, sample, addresses);
      const target = `${SUITE}:Linked`;
      const read = await verify(
        linked.address,
        NEWEST,
        sample.input,
        target,
        linked.transactionHash,
      );
      expect(read.error).toMatchObject({ customCode: 'library_not_deployed' });
      const settings = { ...sample.input.settings, libraries: { [SUITE]: addresses } };
      const input = { ...sample.input, settings };
      const { creation } = await compile(NEWEST, input, 'Linked');
      const named = await deploy(anvil, creation);
      const job = await verify(named.address, NEWEST, input, target, named.transactionHash);
      expect(job.error).toMatchObject({ customCode: 'library_not_deployed' });
      await expectNothingPublished(named.address);
    },
  );

  test('a delegated account is not a contract', async () => {
    const address = `0x${'7e'.repeat(20)}`;
    const code = `0xef0100${'bb'.repeat(20)}`;
    await verifying.anvil.request('anvil_setCode', [address, code]);
    const input = inputOf({ [PATH]: 'contract A {}' });
    const job = await verify(address, NEWEST, input, `${PATH}:A`, UNKNOWN);
    expect(job.error).toMatchObject({ customCode: 'delegated_account' });
  });

  test('settings ignored by an old compiler are rejected, those without effect dropped', async () => {
    const sources = { [PATH]: suiteSource('0.4.26', 'Plain') };
    const input = inputOf(sources);
    const { creation } = await compile('0.4.26', input, 'Plain');
    const { address, transactionHash } = await deploy(verifying.anvil, creation);
    const target = `${PATH}:Plain`;
    for (const more of [
      { auditedBy: 'OpenZeppelin' },
      { optimizer: { enabled: true, runs: 200, auditedBy: 'OpenZeppelin' } },
      { metadata: { useLiteralContent: false, auditedBy: 'OpenZeppelin' } },
    ]) {
      const forged = inputOf(sources, more);
      const job = await verify(address, '0.4.26', forged, target, transactionHash);
      expect(job.error, JSON.stringify(more)).toMatchObject({
        customCode: 'unsupported_setting',
      });
    }
    const harmless = inputOf(sources, {
      modelChecker: { engine: 'none', contracts: { AUDITED: ['by'] } },
      parserErrorRecovery: false,
      compilationTarget: { 'audited.sol': 'Audited' },
      viaIR: false,
      debug: { revertStrings: 'AUDITED' },
      libraries: { AUDITED: {} },
    });
    const job = await verify(address, '0.4.26', harmless, target, transactionHash);
    expect(job.contract).toMatchObject({ match: 'exact_match' });
    const { compilation } = await verifying.contractAt(address);
    expect(JSON.stringify(compilation)).not.toMatch(/audited/i);
    expect(compilation).toMatchObject({
      compilerSettings: { optimizer: { enabled: true, runs: 200 } },
    });
  });

  test('settings that neither bytecode nor metadata proves are not kept', async () => {
    const sample = await suiteContract(NEWEST, 'Plain');
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const forged = {
      ...sample.input,
      settings: {
        ...sample.input.settings,
        libraries: { 'AUDITED BY': { OpenZeppelin: `0x${'11'.repeat(20)}` } },
        remappings: ['audited/=by-OpenZeppelin/'],
      },
    };
    const target = `${SUITE}:Plain`;
    const partial = await verify(address, NEWEST, forged, target, transactionHash);
    // Without them these are the settings of the deployer.
    expect(partial.contract).toMatchObject({ match: 'exact_match' });
    const { compilation } = await verifying.contractAt(address);
    expect(JSON.stringify(compilation)).not.toMatch(/OpenZeppelin/);
    const other = await deploySample(verifying.anvil, sample);
    const changed = {
      ...forged,
      sources: { [SUITE]: { content: `${suiteSource(NEWEST, 'Plain')}// another` } },
    };
    const job = await verify(other.address, NEWEST, changed, target, other.transactionHash);
    expect(job.contract).toMatchObject({ match: 'match' });
    expect(JSON.stringify(await verifying.contractAt(other.address))).not.toMatch(/OpenZeppelin/);
  });

  test("Yul that contains any contract's bytecode as a byte literal is rejected", async () => {
    const victim = await deploySample(verifying.anvil, await suiteContract(NEWEST, 'Plain'));
    const code = await verifying.anvil.request<string>('eth_getCode', [victim.address, 'latest']);
    const program = (statements: string): TestInput => ({
      language: 'Yul',
      sources: {
        'V.yul': {
          content: `object "V" { code { datacopy(0, dataoffset("r"), datasize("r")) return(0, datasize("r")) } object "r" { code { ${statements} } } }`,
        },
      },
      settings: { optimizer: { enabled: true } },
    });
    const pieces = (code.slice(2).match(/.{1,16}/g) ?? []).map(
      (piece) => `verbatim_0i_0o(hex"${piece}")`,
    );
    for (const statements of [`verbatim_0i_0o(hex"${code.slice(2)}")`, pieces.join(' /* x */ ')]) {
      const { address, transactionHash } = victim;
      const job = await verify(address, NEWEST, program(statements), 'V.yul:V', transactionHash);
      expect(job.error).toMatchObject({ customCode: 'verbatim_not_allowed' });
    }
    const short = program('mstore(0, verbatim_0i_1o(hex"5f")) return(0, 32)');
    const { creation } = await compile(NEWEST, short, 'V');
    const { address, transactionHash } = await deploy(verifying.anvil, creation);
    const job = await verify(address, NEWEST, short, 'V.yul:V', transactionHash);
    expect(job.contract).toMatchObject({ match: 'match' });
    expect(await evidenceOf(address)).toMatchObject({
      unproven: ['names', 'comments', 'settings'],
    });
  });

  const objectOf = (constructs: string, statements: string, data = '00'): TestInput => ({
    language: 'Yul',
    sources: {
      'V.yul': {
        content: `object "V" { code { datacopy(0, dataoffset("r"), datasize("r")) ${constructs} return(0, datasize("r")) } object "r" { code { ${statements} } data "table" hex"${data}" } }`,
      },
    },
    settings: { optimizer: { enabled: false } },
  });

  test.each([
    ['a code offset', 'hex"5061002a34"', 'verbatim_0i_1o(CODE)'],
    ['an immutable', 'hex"90"', 'verbatim_1i_1o(CODE, loadimmutable("next"))'],
  ])(
    'Yul with bytes that replace a return address by %s is rejected',
    async (_what, code, call) => {
      const input = objectOf(
        'setimmutable(0, "next", 21)',
        `function note(amount) { sstore(caller(), amount) } note(${call.replace('CODE', code)}) codecopy(0, dataoffset("table"), datasize("table")) sstore(0, loadimmutable("next")) stop()`,
        `${'11'.repeat(40)}${'00'.repeat(40)}5b5f5f5f5f47335af100`,
      );
      const { creation } = await compile(NEWEST, input, 'V');
      const { address, transactionHash } = await deploy(verifying.anvil, creation);
      const job = await verify(address, NEWEST, input, 'V.yul:V', transactionHash);
      expect(job.error).toMatchObject({ customCode: 'verbatim_not_allowed' });
      await expectNothingPublished(address);
    },
  );

  test('a Yul immutable requires its creation if the program contains literal bytecode', async () => {
    const read = 'mstore(0, loadimmutable("fee"))';
    const plain = objectOf('setimmutable(0, "fee", 21)', `${read} return(0, 32)`);
    const holding = objectOf(
      'setimmutable(0, "fee", 21)',
      `${read} mstore(0, verbatim_0i_1o(hex"5f")) return(0, 32)`,
    );
    const target = 'V.yul:V';
    const { runtime, immutables } = await compile(NEWEST, holding, 'V');
    const code = initCodeOf(patch(runtime, immutables[0] ?? [], word(0x42)));
    const forged = await deploy(verifying.anvil, code);
    const unknown = await verify(forged.address, NEWEST, holding, target, UNKNOWN);
    expect(unknown.error).toMatchObject({ customCode: 'immutable_not_proven' });
    const { transactionHash } = forged;
    const known = await verify(forged.address, NEWEST, holding, target, transactionHash);
    expect(known.error).toMatchObject({ customCode: 'no_match' });
    await expectNothingPublished(forged.address);
    for (const [input, hash] of [
      [plain, UNKNOWN],
      [holding, undefined],
    ] as const) {
      const { creation } = await compile(NEWEST, input, 'V');
      const honest = await deploy(verifying.anvil, creation);
      const created = hash ?? honest.transactionHash;
      const job = await verify(honest.address, NEWEST, input, target, created);
      expect(job.contract).toMatchObject({ match: 'match' });
    }
  });

  test.each([false, true])(
    'a library without its own address has no call protection and no match (via IR: %s)',
    async (viaIR) => {
      const input = inputOf(
        {
          [PATH]:
            'library Kept { struct S { uint x; } function set(S storage s, uint v) external { s.x = v; } }',
        },
        viaIR ? { viaIR } : {},
      );
      const { creation, runtime } = await compile(NEWEST, input, 'Kept');
      const target = `${PATH}:Kept`;
      const forged = await deploy(verifying.anvil, initCodeOf(runtime));
      for (const hash of [UNKNOWN, forged.transactionHash]) {
        const job = await verify(forged.address, NEWEST, input, target, hash);
        expect(job.error).toMatchObject({ customCode: 'call_protection_missing' });
        const state = await fetch(`${verifying.service.apiUrl}/v1/jobs/${job.verificationId}`);
        const within = viaIR ? 'immutable' : 'callProtection';
        expect(await state.json()).toMatchObject({ failure: { data: { runtime: { within } } } });
      }
      await expectNothingPublished(forged.address);
      const honest = await deploy(verifying.anvil, creation);
      const job = await verify(honest.address, NEWEST, input, target, UNKNOWN);
      expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
      expect(await evidenceOf(honest.address)).toMatchObject({ unproven: ['storage'] });
    },
  );

  test.each(['SolidityAST', 'EVMAssembly'])('the language %s is rejected', async (language) => {
    const { address } = await deploySample(verifying.anvil, await suiteContract(NEWEST, 'Plain'));
    const input = { ...inputOf({ [PATH]: '{}' }), language };
    const job = await verify(address, NEWEST, input, `${PATH}:A`, UNKNOWN);
    expect(job.error).toMatchObject({ customCode: 'unsupported_language' });
  });
});
