// Vyper contracts, deployed as their developers do and verified over the protocols, with compilers of every
// generation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { type TestInput } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';
import {
  expectEvidence,
  inputOfTransaction,
  reasonsOf,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';
import {
  compileVyper,
  NO_VYPER,
  VYPER_FOLDER,
  VYPER_VERSIONS,
  vyperInput,
} from './support/vyper-builds.ts';

const absence = findAnvil() === undefined ? NO_ANVIL : NO_VYPER;
const [V2, V39, V310, V4] = VYPER_VERSIONS;
const PATH = 'contracts/Token.vy';
const word = (value: number): string => value.toString(16).padStart(64, '0');

/** A contract that every version compiles. */
const plain = (extra = ''): string => `
supply: public(uint256)
${extra}
@external
def __init__(start: uint256):
    self.supply = start

@external
def more(n: uint256) -> uint256:
    self.supply += n
    return self.supply
`;
const plain4 = (extra = ''): string =>
  plain(extra).replace('@external\ndef __init__', '@deploy\ndef __init__');
const sourceFor = (version: string, extra = ''): string =>
  version === V4 ? plain4(extra) : plain(extra);

const immutables = (version: string): string => `
LIMIT: immutable(uint256)
MAKER: immutable(address)

@${version === V4 ? 'deploy' : 'external'}
def __init__(limit: uint256):
    LIMIT = limit
    MAKER = msg.sender

@external
def limit() -> uint256:
    return LIMIT

@external
def maker() -> address:
    return MAKER
`;

describe.skipIf(absence)(`Vyper${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;

  beforeAll(async () => {
    service = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
  });
  afterAll(() => service.close());

  const deployed = async (
    version: string,
    input: TestInput,
    { file = PATH, args = '' } = {},
  ): Promise<{ address: Hex; transactionHash: Hex }> =>
    deploy(service.anvil, await compileVyper(version, input, file), args);
  const verify = (address: string, version: string, stdJsonInput: TestInput, file = PATH) =>
    service.verify(address, {
      ...{ stdJsonInput, compilerVersion: version },
      contractIdentifier: `${file}:${file.slice(file.lastIndexOf('/') + 1, -3)}`,
    });

  test.each([
    [V2, 'match', 'match', []],
    [V39, 'match', 'match', []],
    [V310, 'match', 'match', []],
    [V4, 'match', 'exact_match', []],
  ])(
    'verifies %s by its standard JSON input',
    async (version, runtimeMatch, creationMatch, extra) => {
      const input = vyperInput({ [PATH]: sourceFor(version) });
      const { address, transactionHash } = await deployed(version, input, { args: word(7) });
      const job = await verify(address, version, input);
      expect(job.error).toBeUndefined();
      expect(job.contract).toMatchObject({ runtimeMatch, creationMatch });
      const creation = await inputOfTransaction(service.anvil, transactionHash);
      const contract = await expectEvidence(service, address, creation);
      expect(contract.compilation).toMatchObject({
        ...{ language: 'Vyper', compiler: 'vyper', compilerVersion: version, name: 'Token' },
        fullyQualifiedName: `${PATH}:Token`,
      });
      expect(contract.sources).toEqual({ [PATH]: { content: sourceFor(version) } });
      expect(reasonsOf(contract.creationBytecode)).toEqual(['constructorArguments', ...extra]);
      expect(contract.creationBytecode.transformationValues).toMatchObject({
        constructorArguments: `0x${word(7)}`,
      });
      expect((contract as unknown as { abi: unknown[] }).abi.length).toBeGreaterThan(1);
    },
  );

  test.each([V310, V4])('verifies %s with immutables behind the bytecode', async (version) => {
    const input = vyperInput({ [PATH]: immutables(version) });
    const { address, transactionHash } = await deployed(version, input, { args: word(9) });
    const job = await verify(address, version, input);
    expect(job.error).toBeUndefined();
    const creation = await inputOfTransaction(service.anvil, transactionHash);
    const { runtimeBytecode } = await expectEvidence(service, address, creation);
    expect(reasonsOf(runtimeBytecode)).toEqual(['immutable']);
    expect(JSON.stringify(runtimeBytecode.transformationValues)).toContain(word(9));
  });

  test('matches a changed comment in part; only 0.4.3 can match its exact source in full', async () => {
    for (const version of [V39, V4]) {
      const input = vyperInput({ [PATH]: sourceFor(version, '# one\n') });
      const { address } = await deployed(version, input, { args: word(1) });
      const other = vyperInput({ [PATH]: sourceFor(version, '# two\n') });
      expect((await verify(address, version, other)).contract).toMatchObject({
        ...{ runtimeMatch: 'match', creationMatch: 'match' },
      });
      const job = await verify(address, version, input);
      if (version === V4) expect(job.contract).toMatchObject({ creationMatch: 'exact_match' });
    }
  });

  test('omits sources that the contract does not import and keeps those it does', async () => {
    const sources = {
      'contracts/helper.vy': '\n@internal\ndef double(n: uint256) -> uint256:\n    return 2 * n\n',
      [PATH]:
        'from contracts import helper\n\n@external\ndef f(n: uint256) -> uint256:\n    return helper.double(n)\n',
    };
    const input = vyperInput(sources);
    const { address } = await deployed(V4, input);
    const job = await verify(address, V4, {
      ...input,
      sources: { ...input.sources, 'contracts/liar.vy': { content: '# audited by everybody\n' } },
    });
    expect(job.contract).toMatchObject({ creationMatch: 'exact_match' });
    expect((await service.contractAt(address)).sources).toEqual(
      Object.fromEntries(Object.entries(sources).map(([path, content]) => [path, { content }])),
    );
  });

  test('reads interfaces and search paths only where needed and publishes none elsewhere', async () => {
    const sources = {
      [PATH]: 'import lib\n\n@external\ndef f(n: uint256) -> uint256:\n    return lib.triple(n)\n',
      'deep/lib.vy': '\n@internal\ndef triple(n: uint256) -> uint256:\n    return 3 * n\n',
    };
    const settings = { search_paths: ['deep', '.'] };
    const input = vyperInput(sources, { settings });
    const { address } = await deployed(V4, input);
    expect((await verify(address, V4, input)).error).toBeUndefined();
    expect((await service.contractAt(address)).compilation).toMatchObject({
      compilerSettings: settings,
    });
    const without = vyperInput({ [PATH]: sourceFor(V310) });
    const { address: second } = await deployed(V310, without, { args: word(3) });
    const abi = { 'contracts/IFake.json': { abi: [] } };
    const more = { ...without, interfaces: abi, settings: { evmVersion: 'shanghai' } };
    expect((await verify(second, V310, more)).error).toBeUndefined();
    const stored = (await service.contractAt(second)) as unknown as { stdJsonInput: object };
    expect(stored.stdJsonInput).not.toHaveProperty('interfaces');
  });

  test('keeps an imported interface so the published input compiles again', async () => {
    const source = `
from interfaces import IOther

@external
def g(at: address) -> uint256:
    return IOther(at).n()
`;
    const abi = [
      {
        type: 'function',
        name: 'n',
        inputs: [],
        outputs: [{ name: '', type: 'uint256' }],
        stateMutability: 'nonpayable',
      },
    ];
    const input = vyperInput(
      { [PATH]: source },
      { interfaces: { 'interfaces/IOther.json': { abi } } },
    );
    const { address } = await deployed(V310, input);
    expect((await verify(address, V310, input)).error).toBeUndefined();
    const { stdJsonInput } = (await service.contractAt(address)) as unknown as {
      stdJsonInput: TestInput;
    };
    expect(stdJsonInput).toMatchObject({ interfaces: { 'interfaces/IOther.json': { abi } } });
    expect(await compileVyper(V310, stdJsonInput, PATH)).toBe(
      await compileVyper(V310, input, PATH),
    );
  });

  test('keeps a storage layout if the bytecode needs it', async () => {
    const input = vyperInput(
      { [PATH]: sourceFor(V4) },
      {
        storage_layout_overrides: {
          [PATH]: { storage_layout: { supply: { type: 'uint256', slot: 5, n_slots: 1 } } },
        },
      },
    );
    const { address } = await deployed(V4, input, { args: word(2) });
    expect((await verify(address, V4, input)).contract).toMatchObject({
      creationMatch: 'exact_match',
    });
    const { stdJsonInput } = (await service.contractAt(address)) as unknown as {
      stdJsonInput: TestInput;
    };
    expect(stdJsonInput).toHaveProperty('storage_layout_overrides');
    expect((await verify(address, V4, vyperInput({ [PATH]: sourceFor(V4) }))).error).toBeDefined();
  });

  test.each([
    [
      'settings unknown to any compiler',
      { settings: { auditedBy: 'everybody' } },
      'unsupported_setting',
    ],
    [
      'a setting of the wrong type',
      { settings: { optimize: 'audited by everybody' } },
      'invalid_compiler_input',
    ],
    ['a version that does not exist', {}, 'unsupported_compiler_version'],
  ])('rejects %s', async (what, more, code) => {
    const input = vyperInput({ [PATH]: sourceFor(V310) });
    const { address } = await deployed(V310, input, { args: word(4) });
    const version = what.startsWith('a version') ? '0.9.9' : V310;
    const job = await verify(address, version, { ...input, ...more });
    expect(job.error?.customCode).toBe(code);
    expect(job.error?.message).not.toContain('Solidity');
  });

  test("returns the compiler's own error lines", async () => {
    const { address } = await deployed(V4, vyperInput({ [PATH]: plain4() }), { args: word(5) });
    const job = await verify(address, V4, vyperInput({ [PATH]: 'nonsense !\n' }));
    expect(job.error?.customCode).toBe('compiler_error');
    expect(job.error?.message).toContain('invalid syntax');
  });

  test("reads nothing of the machine through a source's imports", async () => {
    const { address } = await deployed(V310, vyperInput({ [PATH]: sourceFor(V310) }), {
      args: word(6),
    });
    for (const version of [V2, V310, V4]) {
      const source = 'import etc.hostname as Host\nfrom .. import passwd\nx: public(uint256)\n';
      const job = await verify(address, version, vyperInput({ [PATH]: source }));
      expect(job.error?.customCode).toBe('compiler_error');
    }
  });

  test('verifies and reads over the Etherscan protocol', async () => {
    const input = vyperInput({ 'b/Other.vy': 'x: public(uint256)\n', [PATH]: sourceFor(V4) });
    const { address } = await deployed(V4, input, { args: word(8) });
    const body = new URLSearchParams({
      ...{ module: 'contract', action: 'verifysourcecode', codeformat: 'vyper-json' },
      ...{
        contractaddress: address,
        contractname: `${PATH}:Token`,
        compilerversion: 'vyper:0.4.3',
      },
      ...{ sourceCode: JSON.stringify(input), optimizationUsed: '0' },
    });
    const url = `${service.service.apiUrl}/v2/api?chainid=${VERIFIED_CHAIN_ID}`;
    const { result, status } = (await (await fetch(url, { method: 'POST', body })).json()) as {
      status: string;
      result: string;
    };
    expect([status, result]).toEqual(['1', expect.any(String)]);
    expect((await pollJob(service.service.apiUrl, result)).error).toBeUndefined();
    const read = await fetch(`${url}&module=contract&action=getsourcecode&address=${address}`);
    const { result: records } = (await read.json()) as { result: Record<string, string>[] };
    expect(records[0]).toMatchObject({ CompilerVersion: 'vyper:0.4.3', CompilerType: 'vyper' });
  });

  test('verifies with the Blockscout verifier, with an interface', async () => {
    const source = `
import interfaces.IOther as IOther

@external
def g(at: address) -> uint256:
    return IOther(at).n()
`;
    const abi = [
      {
        ...{ type: 'function', name: 'n', inputs: [], stateMutability: 'nonpayable' },
        outputs: [{ name: '', type: 'uint256' }],
      },
    ];
    const file = 'interfaces/IOther.json';
    const input = vyperInput({ [PATH]: source }, { interfaces: { [file]: { abi } } });
    const bytecode = `0x${await compileVyper(V310, input, PATH)}`;
    const verify = async (path: string, body: object) => {
      const url = `${service.service.apiUrl}/blockscout/api/v2/verifier/vyper/sources:${path}`;
      const asked = { bytecode, bytecodeType: 'CREATION_INPUT', compilerVersion: `v${V310}` };
      return (await post(url, { ...asked, ...body })).json();
    };
    const verdict = {
      status: 'SUCCESS',
      source: { sourceType: 'VYPER', contractName: 'Token', matchType: 'PARTIAL' },
    };
    const sources = {
      sourceFiles: { [PATH]: source },
      interfaces: { [file]: JSON.stringify(abi) },
    };
    expect(await verify('verify-multi-part', sources)).toMatchObject(verdict);
    expect(await verify('verify-standard-json', { input: JSON.stringify(input) })).toMatchObject(
      verdict,
    );
  });

  test('publishes the tree and shows the page', async () => {
    const input = vyperInput({ [PATH]: sourceFor(V310, '# a tree\n') });
    const { address } = await deployed(V310, input, { args: word(10) });
    expect((await verify(address, V310, input)).error).toBeUndefined();
    const shown = checksumAddress(address);
    const source = await fetch(
      `${service.service.repositoryUrl}/contracts/partial_match/${VERIFIED_CHAIN_ID}/${shown}/sources/${PATH}`,
    );
    expect([source.status, await source.text()]).toEqual([200, sourceFor(V310, '# a tree\n')]);
    const page = await fetch(`${service.service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${shown}`, {
      headers: { accept: 'text/html' },
    });
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain('Vyper');
    expect(text).not.toMatch(/solc/i);
  });

  test('lists its compilers', async () => {
    const { compilers } = (await (
      await fetch(`${service.service.apiUrl}/v1/compilers`)
    ).json()) as {
      compilers: { compiler: string; longVersion: string; installed: boolean }[];
    };
    const vyper = compilers.filter(({ compiler }) => compiler === 'vyper');
    expect(vyper.map(({ longVersion }) => longVersion)).toEqual([...VYPER_VERSIONS].reverse());
    expect(vyper.every(({ installed }) => installed)).toBe(true);
  });

  test('recognizes a copy of a verified contract without its sources', async () => {
    const input = vyperInput({ [PATH]: sourceFor(V4, '# copied\n').replace('more', 'evenMore') });
    const first = await deployed(V4, input, { args: word(11) });
    expect((await verify(first.address, V4, input)).error).toBeUndefined();
    const second = await deployed(V4, input, { args: word(12) });
    const ask = async () => {
      const response = await post(
        `${service.service.apiUrl}/v2/verify/similarity/${VERIFIED_CHAIN_ID}/${second.address}`,
        {},
      );
      const { verificationId } = (await response.json()) as { verificationId: string };
      return pollJob(service.service.apiUrl, verificationId);
    };
    await expect.poll(async () => (await ask()).contract.creationMatch).toBe('exact_match');
  });
});
