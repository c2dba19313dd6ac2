// Requests that Blockscout sends to its verifier, with the bytecode of contracts deployed on a real node.
import { encodeAbiParameters } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { compileInChild } from './support/compile-in-child.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { post } from './support/verification-client.ts';
import {
  inputOfTransaction,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';

const VERSION = '0.8.30';
const LONG_VERSION = 'v0.8.30+commit.73712a01';
const SINGLE = 'solidity/sources:verify-standard-json';
const PARTS = 'solidity/sources:verify-multi-part';
const BATCH = 'solidity/sources:batch-verify-standard-json';
const word = (value: number): string => value.toString(16).padStart(64, '0');

const SOURCES = {
  'src/Base.sol': 'contract Base { uint public base = 1; }',
  'src/Box.sol': `import "./Base.sol";
    library Sum { function sum(uint a, uint b) public pure returns (uint) { return a + b; } }
    contract Other { uint public o; function other() public { o += 2; } }
    contract Box is Base {
      uint public immutable limit;
      constructor(uint limit_) { limit = limit_; }
      function within(uint n) public view returns (bool) { return n < limit; }
    }`,
};
const INPUT = inputOf(SOURCES);

/** Blockscout deserializes strictly: each key must be present, null or not. */
const SOURCE_KEYS = [
  ...['abi', 'compilerVersion', 'constructorArguments', 'contractName', 'fileName'],
  ...['sourceFiles', 'compilerSettings', 'matchType'],
];

interface Verdict {
  readonly status: string;
  readonly message: string;
  readonly source: Readonly<Record<string, unknown>> & { sourceFiles: Record<string, string> };
  readonly extraData: Record<string, { type: string; data: string }[]>;
  readonly postActionResponses: {
    readonly lookupMethods: {
      readonly methods: Record<string, { fileName: string; fileOffset: number; length: number }>;
    } | null;
  };
}

describeWith([ANVIL], 'Blockscout verifier', () => {
  let service: VerifyingService;
  let base: string;
  let address: Hex;
  let creationCode: string;
  let runtimeCode: string;

  beforeAll(async () => {
    service = await startVerifyingService();
    base = `${service.service.apiUrl}/blockscout`;
    ({ address, creationCode, runtimeCode } = await deployBox(INPUT));
  });
  afterAll(() => service.close());

  const deployBox = async (input: TestInput) => {
    const made = await compileAsDeveloper(VERSION, input, 'src/Box.sol', 'Box');
    const deployed = await deploy(service.anvil, made.creationCode, word(9));
    return {
      address: deployed.address,
      creationCode: await inputOfTransaction(service.anvil, deployed.transactionHash),
      runtimeCode: await service.anvil.request<string>('eth_getCode', [deployed.address, 'latest']),
    };
  };
  const metadata = () => ({ chainId: String(VERIFIED_CHAIN_ID), contractAddress: address });
  const ask = async (path: string, body: object, at = base): Promise<Verdict> => {
    const response = await post(`${at}/api/v2/verifier/${path}`, body);
    return (await response.json()) as Verdict;
  };
  const ofCreation = (more: object = {}) => ({
    ...{ bytecode: creationCode, bytecodeType: 'CREATION_INPUT', metadata: metadata() },
    ...{ compilerVersion: LONG_VERSION, input: JSON.stringify(INPUT) },
    ...more,
  });
  const parts = (more: object = {}) => ({
    ...{ compilerVersion: LONG_VERSION, sourceFiles: SOURCES, optimizationRuns: 200 },
    ...{ evmVersion: 'default', libraries: {} },
    ...more,
  });

  test('reports healthy and lists compilers, newest first', async () => {
    expect(await (await fetch(`${base}/health`)).json()).toEqual({ status: 'SERVING' });
    const { compilerVersions } = (await (
      await fetch(`${base}/api/v2/verifier/solidity/versions`)
    ).json()) as { compilerVersions: string[] };
    expect(compilerVersions).toContain(LONG_VERSION);
    expect(compilerVersions[0]).toBe('v0.8.37+commit.f401782d');
    const vyper = await fetch(`${base}/api/v2/verifier/vyper/versions`);
    expect(await vyper.json()).toEqual({ compilerVersions: [] });
  });

  test.each([
    ['no metadata hash', { bytecodeHash: 'none' }, 'PARTIAL'],
    ['a Swarm hash', { bytecodeHash: 'bzzr1' }, 'FULL'],
    ['no metadata', { appendCBOR: false }, 'PARTIAL'],
  ])('verifies plain sources whose code has %s', async (_what, settings, matchType) => {
    const deployed = await deployBox(inputOf(SOURCES, { metadata: settings }));
    const codes = [
      { bytecode: deployed.creationCode, bytecodeType: 'CREATION_INPUT' },
      { bytecode: deployed.runtimeCode, bytecodeType: 'DEPLOYED_BYTECODE' },
    ];
    for (const code of codes) {
      const verdict = await ask(PARTS, parts({ ...code, metadata: metadata() }));
      expect([verdict.status, verdict.message]).toEqual(['SUCCESS', 'OK']);
      expect(verdict.source['matchType']).toBe(matchType);
      expect(JSON.parse(String(verdict.source['compilerSettings']))).toMatchObject({
        metadata: settings,
      });
    }
  });

  test('verifies plain sources whose arguments contain code with other metadata', async () => {
    const sources = {
      'Keeper.sol':
        'contract Keeper { bytes public kept; constructor(bytes memory code) { kept = code; } }',
    };
    const compile = async (settings: object): Promise<string> => {
      const input = inputOf(sources, { metadata: settings });
      const made = await compileAsDeveloper(VERSION, input, 'Keeper.sol', 'Keeper');
      return made.creationCode.replace(/^0x/, '');
    };
    const forms = [{}, { bytecodeHash: 'none' }, { bytecodeHash: 'bzzr1' }, { appendCBOR: false }];
    const codes = await Promise.all(forms.map(compile));
    for (const [index, own] of codes.entries()) {
      for (const kept of codes) {
        const data = encodeAbiParameters([{ type: 'bytes' }], [`0x${kept}`]).slice(2);
        const code = { bytecode: `0x${own}${data}`, bytecodeType: 'CREATION_INPUT' };
        const verdict = await ask(PARTS, parts({ ...code, sourceFiles: sources }));
        expect([verdict.status, verdict.message]).toEqual(['SUCCESS', 'OK']);
        const settings = JSON.parse(String(verdict.source['compilerSettings'])) as object;
        expect({ metadata: {}, ...settings }).toMatchObject({ metadata: forms[index] });
      }
    }
  });

  test('verifies each code of a batch with its own metadata', async () => {
    const settings = [{}, { bytecodeHash: 'none' }, { appendCBOR: false }];
    const deployed = await Promise.all(
      settings.map((metadata) => deployBox(inputOf(SOURCES, { metadata }))),
    );
    const proxy = `0x363d3d373d3d3d363d73${'ab'.repeat(20)}5af43d82803e903d91602b57fd5bf3`;
    const contracts = [
      { runtimeCode: proxy, metadata: metadata() },
      ...deployed.map((each) => ({ ...each, metadata: metadata() })),
    ];
    const url = `${base}/api/v2/verifier/solidity/sources:batch-verify-multi-part`;
    const response = await post(url, parts({ contracts }));
    const { contractVerificationResults } = (await response.json()) as {
      contractVerificationResults: {
        items: { success?: Record<string, { matchType: string } | undefined> }[];
      };
    };
    const matches = contractVerificationResults.items.map(({ success }) => [
      success?.['creationMatchDetails']?.matchType,
      success?.['runtimeMatchDetails']?.matchType,
    ]);
    expect(matches).toEqual([
      [undefined, undefined],
      ['FULL', 'FULL'],
      ['PARTIAL', 'PARTIAL'],
      ['PARTIAL', 'PARTIAL'],
    ]);
  });

  test('leaves out libraries that none or several of plain sources declare', async () => {
    const files = { ...SOURCES, 'src/Twin.sol': 'library Sum { function s() external {} }' };
    for (const libraries of [{ SafeMath: address }, { Sum: address }, { SafeMath: '' }]) {
      const code = { bytecode: creationCode, bytecodeType: 'CREATION_INPUT' };
      const verdict = await ask(PARTS, parts({ ...code, sourceFiles: files, libraries }));
      expect([verdict.status, verdict.message]).toEqual(['SUCCESS', 'OK']);
    }
  });

  test('finds the contract of creation bytecode in a standard JSON input', async () => {
    for (const at of [base, service.service.apiUrl, `${service.service.apiUrl}/server`]) {
      const verdict = await ask(SINGLE, ofCreation({ postActions: ['another'] }), at);
      expect(verdict).toMatchObject({
        ...{ status: 'SUCCESS', message: 'OK' },
        source: {
          ...{ fileName: 'src/Box.sol', contractName: 'Box', compilerVersion: LONG_VERSION },
          ...{ sourceType: 'SOLIDITY', matchType: 'FULL', isBlueprint: false },
          ...{ constructorArguments: `0x${word(9)}`, sourceFiles: SOURCES, libraries: {} },
        },
        postActionResponses: { lookupMethods: null },
      });
      expect(Object.keys(verdict.source)).toEqual(expect.arrayContaining(SOURCE_KEYS));
      expect(JSON.parse(String(verdict.source['abi']))).toBeInstanceOf(Array);
      expect(JSON.parse(String(verdict.source['compilerSettings']))).toMatchObject({
        optimizer: { enabled: true, runs: 200 },
      });
      const { localCreationInputParts = [] } = verdict.extraData;
      expect(localCreationInputParts.map(({ type }) => type)).toEqual(['main', 'meta']);
      const whole = localCreationInputParts.map(({ data }) => data.slice(2)).join('');
      expect(creationCode).toBe(`0x${whole}${word(9)}`);
    }
  });

  test("finds the contract by runtime bytecode and returns the immutable's value", async () => {
    const verdict = await ask(SINGLE, {
      ...ofCreation(),
      ...{ bytecode: runtimeCode, bytecodeType: 'DEPLOYED_BYTECODE' },
    });
    expect(verdict).toMatchObject({
      status: 'SUCCESS',
      source: { contractName: 'Box', matchType: 'FULL', constructorArguments: null },
    });
  });

  test('accepts sources with settings and turns the optimizer off without runs', async () => {
    const request = {
      bytecode: creationCode,
      bytecodeType: 'CREATION_INPUT',
      metadata: metadata(),
    };
    expect(await ask(PARTS, { ...request, ...parts() })).toMatchObject({
      status: 'SUCCESS',
      source: { contractName: 'Box', matchType: 'FULL' },
    });
    expect(await ask(PARTS, { ...request, ...parts({ optimizationRuns: null }) })).toMatchObject({
      status: 'FAILURE',
      message: 'No contract could be verified with provided data',
      source: null,
    });
  });

  test('reports a partial match for a changed comment', async () => {
    const other = inputOf({ ...SOURCES, 'src/Base.sol': `${SOURCES['src/Base.sol']} // other` });
    expect(await ask(SINGLE, ofCreation({ input: JSON.stringify(other) }))).toMatchObject({
      status: 'SUCCESS',
      source: { matchType: 'PARTIAL' },
    });
  });

  test('names both addresses when a library is linked elsewhere', async () => {
    const text = `library Far { function far(uint n) public pure returns (uint) { return n + 1; } }
      contract Near { function near(uint n) public pure returns (uint) { return Far.far(n); } }`;
    const [there, given] = [`0x${'52'.repeat(20)}`, `0x${'25'.repeat(20)}`] as const;
    const linked = (address: string) =>
      inputOf({ 'n.sol': text }, { libraries: { 'n.sol': { Far: address } } });
    const made = await compileAsDeveloper(VERSION, linked(there), 'n.sol', 'Near');
    const ofLibrary = (address: string) =>
      ask(SINGLE, {
        ...ofCreation({ bytecode: `0x${made.creationCode}` }),
        input: JSON.stringify(linked(address)),
      });
    expect(await ofLibrary(there)).toMatchObject({ status: 'SUCCESS' });
    const { status, message } = await ofLibrary(given);
    expect(status).toBe('FAILURE');
    for (const each of ['n.sol:Far', there, given]) expect(message).toContain(each);
  });

  test('reports no match when one byte differs', async () => {
    const middle = Math.floor(creationCode.length / 4) * 2;
    const byte = creationCode.slice(middle, middle + 2) === '00' ? '01' : '00';
    const forged = `${creationCode.slice(0, middle)}${byte}${creationCode.slice(middle + 2)}`;
    expect(await ask(SINGLE, ofCreation({ bytecode: forged }))).toMatchObject({
      status: 'FAILURE',
    });
  });

  test('compares several bytecodes with one compilation', async () => {
    const other = await compileAsDeveloper(VERSION, INPUT, 'src/Box.sol', 'Other');
    const answer = await post(`${base}/api/v2/verifier/${BATCH}`, {
      contracts: [
        { creationCode, runtimeCode, metadata: metadata() },
        { creationCode: `0x${other.creationCode}` },
        { runtimeCode: '0x6001600155' },
      ],
      ...{ compilerVersion: LONG_VERSION, input: JSON.stringify(INPUT) },
    });
    const { contractVerificationResults } = (await answer.json()) as {
      contractVerificationResults: { items: Record<string, Record<string, unknown>>[] };
    };
    const [first, second, third] = contractVerificationResults.items;
    expect(first?.['success']).toMatchObject({
      ...{ contractName: 'Box', compiler: 'SOLC', language: 'SOLIDITY', sources: SOURCES },
      creationMatchDetails: { matchType: 'FULL' },
      runtimeMatchDetails: { matchType: 'FULL' },
    });
    const { values } = first?.['success']?.['creationMatchDetails'] as { values: string };
    expect(JSON.parse(values)).toEqual({ constructorArguments: `0x${word(9)}` });
    expect(second?.['success']).toMatchObject({ contractName: 'Other' });
    expect(second?.['success']).not.toHaveProperty('runtimeMatchDetails');
    expect(third).toEqual({ failure: {} });
    const byParts = await post(`${base}/api/v2/verifier/solidity/sources:batch-verify-multi-part`, {
      contracts: [{ runtimeCode }],
      ...{ compilerVersion: LONG_VERSION, sources: SOURCES, optimizationRuns: 200 },
    });
    expect(JSON.stringify(await byParts.json())).toContain('"contractName":"Box"');
  });

  test.each<[string, object]>([
    ['sources that do not compile', { input: JSON.stringify(inputOf({ 'a.sol': 'contract {' })) }],
    ['an unknown version', { compilerVersion: 'v0.8.99+commit.00000000' }],
    ['an input that is not JSON', { input: '{' }],
    ['bytecode that is not hex', { bytecode: '0xzz' }],
    ['missing bytecode', { bytecode: undefined }],
    ['an unknown type', { bytecodeType: 'SOMETHING' }],
    [
      'settings unknown to any compiler',
      { input: JSON.stringify({ ...INPUT, settings: { stopAfter: 'parsing' } }) },
    ],
  ])('reports a failure in the documented format for %s', async (_what, more) => {
    const verdict = await ask(SINGLE, ofCreation(more));
    expect(verdict).toEqual({
      ...{ message: expect.any(String) as string, status: 'FAILURE' },
      ...{ source: null, extraData: null, postActionResponses: null },
    });
    expect(verdict.message.length).toBeGreaterThan(5);
    const { bytecode, ...others } = ofCreation(more) as { bytecode?: string };
    const batch = await post(`${base}/api/v2/verifier/${BATCH}`, {
      ...others,
      contracts: [{ creationCode: bytecode }],
    });
    const text = await batch.text();
    if (!/type/.test(_what)) expect(text).toContain('"compilationFailure":{"message":');
  });

  test('omits what the bytecode does not prove: unused sources, libraries and remappings', async () => {
    const told = { ...SOURCES, 'AUDIT-by-nobody.sol': '// holders must claim elsewhere' };
    const full = await ask(SINGLE, ofCreation({ input: JSON.stringify(inputOf(told)) }));
    expect(full).toMatchObject({
      source: { matchType: 'FULL', contractName: 'Box', sourceFiles: SOURCES },
    });
    expect(Object.keys(full.source.sourceFiles)).toEqual(Object.keys(SOURCES));
    const settings = {
      remappings: ['AUDITED-BY-NOBODY/=safe/'],
      libraries: { 'AUDITED.sol': { Nobody: `0x${'22'.repeat(20)}` } },
    };
    const other = { ...told, 'src/Base.sol': `${SOURCES['src/Base.sol']} // other` };
    const input = JSON.stringify(inputOf(other, settings));
    const partial = await ask(SINGLE, ofCreation({ input }));
    expect(partial).toMatchObject({ source: { matchType: 'PARTIAL', libraries: {} } });
    const batch = await post(`${base}/api/v2/verifier/${BATCH}`, {
      contracts: [{ runtimeCode }, { creationCode }],
      ...{ compilerVersion: LONG_VERSION, input },
    });
    const text = await batch.text();
    expect(text.match(/"success"/g)).toHaveLength(2);
    expect(`${JSON.stringify(partial)} ${text}`).not.toMatch(/AUDIT|Nobody/);
  });

  test('rejects a request whose response would repeat megabytes of sources', async () => {
    const path = 'src/Box.sol';
    const long = { ...SOURCES, [path]: `${SOURCES[path]}\n${'// much text\n'.repeat(200_000)}` };
    const answer = await post(`${base}/api/v2/verifier/${BATCH}`, {
      contracts: Array.from({ length: 20 }, () => ({ runtimeCode })),
      ...{ compilerVersion: LONG_VERSION, input: JSON.stringify(inputOf(long)) },
    });
    const text = await answer.text();
    expect(text.length).toBeLessThan(1000);
    expect(text).toContain('"compilationFailure":{"message":');
    const one = await ask(SINGLE, ofCreation({ input: JSON.stringify(inputOf(long)) }));
    expect(one).toMatchObject({ status: 'SUCCESS', source: { sourceFiles: long } });
  });

  test.each([
    ['/blockscout', 'solidity/sources%3Averify-standard-json'],
    ['', 'solidity/sources%3averify-standard-json'],
    ['/blockscout', 'solidity%2Fsources%3Averify-standard-json'],
  ])(
    'is served with the colon escaped, as Elixir sends it: %s/api/v2/verifier/%s',
    async (base, path) => {
      const url = `${service.service.apiUrl}${base}/api/v2/verifier/${path}`;
      const answer = await post(url, ofCreation());
      const isThere = !path.includes('%2F');
      expect(answer.status).toBe(isThere ? 200 : 404);
      expect(await answer.json()).toMatchObject({
        status: isThere ? 'SUCCESS' : 'FAILURE',
        message: expect.any(String) as string,
      });
    },
  );

  test('stores nothing after any verification', async () => {
    await ask(SINGLE, ofCreation());
    const url = `${service.service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}`;
    expect((await fetch(url)).status).toBe(404);
    expect(await service.statistics()).toBe('{}');
  });

  test('verifies an on-chain contract by metadata and sources, stores it and returns it in full', async () => {
    const source = 'contract Kept { uint public kept = 5; }';
    const input = inputOf({ 'Kept.sol': source, 'Two.sol': 'contract Two { uint public n; }' });
    const made = await compileAsDeveloper(VERSION, input, 'Kept.sol', 'Kept');
    const two = await compileAsDeveloper(VERSION, input, 'Two.sol', 'Two');
    const deployed = await deploy(service.anvil, made.creationCode);
    const asked = { address: deployed.address, chain: String(VERIFIED_CHAIN_ID) };
    const files = { 'metadata.json': made.metadata, 'Kept.sol': source };
    const path = 'sourcify/sources:verify';
    const several = await ask(path, { ...asked, files: { ...files, 'two.json': two.metadata } });
    expect(several).toMatchObject({ status: 'FAILURE', source: null });
    expect(several.message).toContain('0: Kept.sol:Kept');
    const other = { ...files, 'Kept.sol': source.replace('5', '6') };
    expect(await ask(path, { ...asked, files: other })).toMatchObject({ status: 'FAILURE' });
    for (const at of [base, service.service.apiUrl]) {
      const verdict = await ask(path, { ...asked, files }, at);
      expect(verdict).toMatchObject({ status: 'SUCCESS', message: 'OK' });
      for (const key of SOURCE_KEYS) expect(verdict.source).toHaveProperty(key);
      expect(verdict.source).toMatchObject({ matchType: 'FULL', contractName: 'Kept' });
      expect(verdict.source.sourceFiles).toEqual({ 'Kept.sol': source });
    }
    expect((await service.contractAt(deployed.address)).match).toBe('exact_match');
    const wrong = await ask(path, { ...asked, chain: 'x', files });
    expect(wrong).toMatchObject({ status: 'FAILURE', postActionResponses: null });
  });

  test('verifies Yul sources', async () => {
    const object = `object "Thing" { code { datacopy(0, dataoffset("Runtime"), datasize("Runtime")) return(0, datasize("Runtime")) }
      object "Runtime" { code { mstore(0, 42) return(0, 32) } } }`;
    const yul: TestInput = { ...inputOf({ 'thing.yul': object }), language: 'Yul' };
    const made = await compileAsDeveloper(VERSION, yul, 'thing.yul', 'Thing');
    expect(
      await ask(PARTS, {
        ...{ bytecode: `0x${made.creationCode}`, bytecodeType: 'CREATION_INPUT' },
        ...parts({ sourceFiles: { 'thing.yul': object } }),
      }),
    ).toMatchObject({ status: 'SUCCESS', source: { sourceType: 'YUL', contractName: 'Thing' } });
  });

  test('returns function source ranges with a verdict on request', async () => {
    const body = ofCreation({ postActions: ['lookup-methods'] });
    const { postActionResponses } = await ask(SINGLE, body);
    const { methods } = postActionResponses.lookupMethods ?? { methods: {} };
    const source = SOURCES['src/Box.sol'];
    const { fileName, fileOffset, length } =
      Object.values(methods).find(
        ({ fileName: path, fileOffset: at }) =>
          path === 'src/Box.sol' && source.startsWith('function within', at),
      ) ?? {};
    expect(fileName).toBe('src/Box.sol');
    expect(source.slice(fileOffset, (fileOffset ?? 0) + (length ?? 0))).toMatch(/^function within/);
    expect(Object.keys(methods)).toHaveLength(3);
    expect((await ask(SINGLE, ofCreation())).postActionResponses.lookupMethods).toBeNull();
  });

  test('looks up function source ranges by source map and rejects invalid requests', async () => {
    const source =
      'contract Lamp { bool public on; function toggle() external { on = !on; } function dim(uint8 n) external { on = n > 1; } }';
    const [output] = await compileInChild<{
      contracts: Record<
        string,
        Record<string, { abi: object; evm: { deployedBytecode: Record<string, string> } }>
      >;
    }>('0.8.37', [
      {
        ...{ language: 'Solidity', sources: { 'Lamp.sol': { content: source } } },
        settings: { outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode'] } } },
      },
    ]);
    const lamp = output?.contracts['Lamp.sol']?.['Lamp'];
    const { object, sourceMap } = lamp?.evm.deployedBytecode ?? {};
    const asked = {
      ...{ bytecode: `0x${object ?? ''}`, abi: JSON.stringify(lamp?.abi), sourceMap },
      fileIds: { 0: 'Lamp.sol' },
    };
    const url = `${base}/api/v2/verifier/solidity/methods:lookup`;
    const { methods } = (await (await post(url, asked)).json()) as {
      methods: Record<string, { fileName: string; fileOffset: number; length: number }>;
    };
    const texts = Object.values(methods).map(({ fileOffset, length }) =>
      source.slice(fileOffset, fileOffset + length),
    );
    expect(texts).toHaveLength(3);
    expect(texts).toContain('function toggle() external { on = !on; }');
    expect(Object.values(methods).every(({ fileName }) => fileName === 'Lamp.sol')).toBe(true);
    const wrong = await post(url, { ...asked, abi: '{' });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 'invalid_json' }]);
  });
});
