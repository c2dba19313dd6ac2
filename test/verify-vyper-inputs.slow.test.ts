// Vyper contracts verified with the inputs that tools write: compiler bundles, files, and the command line.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { type TestInput } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import {
  bundleVyper,
  compileVyper,
  NO_VYPER,
  VYPER_FOLDER,
  VYPER_VERSIONS,
  vyperInput,
} from './support/vyper-builds.ts';

const absence = findAnvil() === undefined ? NO_ANVIL : NO_VYPER;
const [, , V310, V4] = VYPER_VERSIONS;
const PATH = 'contracts/Token.vy';
const FOLDER_SETTINGS = `compilers: { folder: ${VYPER_FOLDER} }\n`;

/** A contract in 0.3.10 whose constructor takes a number. */
const PLAIN = `
supply: public(uint256)

@external
def __init__(start: uint256):
    self.supply = start
`;

describe.skipIf(absence)(`Vyper inputs${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  beforeAll(async () => {
    [service, folder] = await Promise.all([
      startVerifyingService(() => FOLDER_SETTINGS),
      createTemporaryFolder(),
    ]);
    await writeFile(
      path.join(folder.path, 'fullmatch.yaml'),
      configOf(service.anvil, FOLDER_SETTINGS),
    );
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  const deployed = async (
    version: string,
    input: TestInput,
    args = '',
  ): Promise<{ address: Hex; transactionHash: Hex }> =>
    deploy(service.anvil, await compileVyper(version, input, PATH), args);
  /** The output of `vyper -f solc_json` for files. */
  const bundle = async (sources: Readonly<Record<string, string>>): Promise<string> => {
    const project = await mkdtemp(path.join(folder.path, 'project-'));
    for (const [name, text] of Object.entries(sources)) {
      await mkdir(path.dirname(path.join(project, name)), { recursive: true });
      await writeFile(path.join(project, name), text);
    }
    return bundleVyper(V4, project, PATH);
  };
  const verify = (address: string, version: string, stdJsonInput: TestInput) =>
    service.verify(address, {
      ...{ stdJsonInput, compilerVersion: version },
      contractIdentifier: `${PATH}:Token`,
    });

  test('treat settings that tools leave empty as absent', async () => {
    const input = vyperInput({ [PATH]: PLAIN });
    const { address } = await deployed(V310, input, '7'.padStart(64, '0'));
    const settings = { libraries: {}, remappings: [], optimize: 'gas' };
    expect((await verify(address, V310, { ...input, settings })).error).toBeUndefined();
    const { compilation } = await service.contractAt(address);
    expect(compilation['compilerSettings']).toEqual({ optimize: 'gas' });
    const named = { libraries: { [PATH]: { L: address } } };
    const job = await verify(address, V310, { ...input, settings: named });
    expect(job.error?.customCode).toBe('unsupported_setting');
  });

  test('with another optimization mode are diagnosed with the matching one', async () => {
    const input = vyperInput({ [PATH]: PLAIN });
    const settings = { optimize: 'none' };
    const { address } = await deployed(V310, { ...input, settings }, '7'.padStart(64, '0'));
    const { error } = await verify(address, V310, { ...input, settings: { optimize: 'gas' } });
    expect(error?.errorData?.['diagnosis']).toMatchObject({ changes: settings });
  });

  test('verify by files alone, which determine the contract', async () => {
    const files = {
      [PATH]:
        'from contracts import helper\n\n@external\ndef f(n: uint256) -> uint256:\n    return helper.half(n)\n',
      'contracts/helper.vy': '\n@internal\ndef half(n: uint256) -> uint256:\n    return n // 2\n',
    };
    const { address } = await deployed(V4, vyperInput(files));
    const send = (more: object) =>
      post(`${service.service.apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`, {
        ...{ files, compilerVersion: V4, language: 'Vyper', evmVersion: 'default' },
        ...more,
      });
    expect((await send({ contract: 'Nothing' })).status).toBe(400);
    expect((await send({ optimizer: { enabled: true } })).status).toBe(400);
    for (const more of [{}, { contract: 'Token' }]) {
      const { verificationId } = (await (await send(more)).json()) as { verificationId: string };
      const job = await pollJob(service.service.apiUrl, verificationId);
      expect(job.error).toBeUndefined();
      expect(job.contract).toMatchObject({ creationMatch: 'exact_match' });
    }
    expect((await service.contractAt(address)).compilation).toMatchObject({ name: 'Token' });
  });

  test("verify over API v1 with the compiler's own bundle, which names version and contract", async () => {
    const helper = '\n@internal\ndef third(n: uint256) -> uint256:\n    return n // 3\n';
    const token =
      'from contracts import helper\n\n@external\ndef f(n: uint256) -> uint256:\n    return helper.third(n)\n';
    const sources = { 'contracts/helper.vy': helper, [PATH]: token };
    const { address } = await deployed(V4, vyperInput(sources));
    const answer = await post(`${service.service.apiUrl}/verify`, {
      ...{ address, chain: String(VERIFIED_CHAIN_ID) },
      files: { 'input.json': await bundle(sources) },
    });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { result: [expect.objectContaining({ status: 'perfect' })] },
    ]);
    expect((await service.contractAt(address)).compilation).toMatchObject({
      ...{ name: 'Token', compilerVersion: V4 },
    });
  });

  describe('fullmatch verify', () => {
    const runAt = (address: string, input: string, ...more: readonly string[]): Promise<CliRun> =>
      runInProcess(['verify', String(VERIFIED_CHAIN_ID), address, input, ...more], {
        environment: { DATABASE_URL: service.testDatabase.url },
        workingDirectory: folder.path,
      });
    const run = async (
      address: string,
      input: string,
      ...more: readonly string[]
    ): Promise<CliRun> => {
      const file = path.join(folder.path, address, 'input.json');
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, input);
      return runAt(address, file, ...more);
    };

    test.each([
      ['on the database', (): string[] => []],
      ['through a running service', (): string[] => ['--url', service.service.apiUrl, '--wait']],
    ])('accepts an input with the ABI of an interface, %s', async (_what, where) => {
      const source = `
from interfaces import IOther

@external
def g(at: address) -> uint256:
    return IOther(at).n()
`;
      const output = { name: '', type: 'uint256' };
      const n = { type: 'function', name: 'n', inputs: [], outputs: [output] };
      const abi = [{ ...n, stateMutability: 'nonpayable' }];
      const interfaces = { 'interfaces/IOther.json': { abi } };
      const input = vyperInput({ [PATH]: source }, { interfaces });
      const { address } = await deployed(V310, input);
      const ran = await run(
        address,
        JSON.stringify(input),
        '--compiler',
        '0.3.10',
        '--json',
        ...where(),
      );
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(ran.stdout)).toMatchObject({
        runtimeMatch: 'partial',
        creationMatch: 'partial',
      });
      const { stdJsonInput } = (await service.contractAt(address)) as unknown as {
        stdJsonInput: TestInput;
      };
      expect(stdJsonInput).toMatchObject({ interfaces });
    });

    test('accepts a file with all its imports, or the folder of several', async () => {
      const project = await mkdtemp(path.join(folder.path, 'project-'));
      const sources = {
        'src/lib/numbers.vy':
          '\nfrom . import more\n\n@internal\ndef sixth(n: uint256) -> uint256:\n    return more.half(n) // 3\n',
        'src/lib/more.vy': '\n@internal\ndef half(n: uint256) -> uint256:\n    return n // 2\n',
        'src/ITold.vyi': '\n@external\ndef f(n: uint256) -> uint256: ...\n',
        'src/Told.vy': `# pragma version ~=0.4.3
from src import ITold
from src.lib import numbers
from ethereum.ercs import IERC20

implements: ITold

@external
def f(n: uint256) -> uint256:
    return numbers.sixth(n)
`,
      };
      for (const [name, text] of Object.entries(sources)) {
        await mkdir(path.dirname(path.join(project, name)), { recursive: true });
        await writeFile(path.join(project, name), text);
      }
      // Compilers of other languages ignore it.
      await writeFile(path.join(project, 'package.json'), '{}');
      const input = vyperInput(sources);
      const creationCode = await compileVyper(V4, input, 'src/Told.vy');
      const verifyAt = async (place: string, ...more: readonly string[]) => {
        const { address } = await deploy(service.anvil, creationCode);
        const told = ['--compiler', '0.4.3', '--json', ...more];
        const ran = await runInProcess(
          ['verify', String(VERIFIED_CHAIN_ID), address, place, ...told],
          {
            environment: {
              DATABASE_URL: service.testDatabase.url,
              FULLMATCH_CONFIG: path.join(folder.path, 'fullmatch.yaml'),
            },
            workingDirectory: project,
          },
        );
        return { ran, address };
      };
      for (const [place, ...more] of [['src/Told.vy'], ['.', '--contract', 'Told']] as const) {
        const { ran, address } = await verifyAt(place, ...more);
        expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
        expect(JSON.parse(ran.stdout)).toMatchObject({ creationMatch: 'full' });
        const { sources: shown } = await service.contractAt(address);
        expect(Object.keys(shown).sort()).toEqual(Object.keys(sources).sort());
      }
      const { ran } = await verifyAt('src/Told.vy', '--via-ir');
      expect(ran).toMatchObject({ exitCode: 1 });
      expect(JSON.parse(ran.stdout)).toMatchObject({ code: 'verification_input_unusable' });
    });

    test("accepts the compiler's bundle without a version or contract name", async () => {
      const sources = {
        'contracts/helper.vy':
          '\n@internal\ndef fifth(n: uint256) -> uint256:\n    return n // 5\n',
        [PATH]:
          'from contracts import helper\n\n@external\ndef f(n: uint256) -> uint256:\n    return helper.fifth(n)\n',
      };
      const { address } = await deployed(V4, vyperInput(sources));
      const ran = await run(address, await bundle(sources), '--json');
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(ran.stdout)).toMatchObject({ creationMatch: 'full' });
    });
  });
});
