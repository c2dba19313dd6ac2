// Contracts compiled with Solar, deployed as their developers do and verified over the protocols. The
// compiler outputs are recorded.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SOLAR } from '../src/compilers/toolchains/solar.ts';
import { bytesToHex, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import {
  compileSolar,
  createSolarFolder,
  recordSolar,
  SOLAR_VERSION,
} from './support/solar-recordings.ts';
import { inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';
import {
  expectEvidence,
  inputOfTransaction,
  reasonsOf,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';

const hasBuilds = SOLAR.names.readFileName(SOLAR.names.fileNameOf(SOLAR_VERSION, 'native'));
const absence =
  hasBuilds === undefined
    ? 'skipped: Solar runs on Linux'
    : findAnvil() === undefined
      ? NO_ANVIL
      : undefined;

/** Its output has no references, and its bytecode no metadata. */
const OLD_VERSION = '0.8.35+commit.4bf7a3b.solar.0.2.0';
const PATH = 'src/Pot.sol';
const LIBRARY = 'src/Sums.sol';
const word = (value: number): string => value.toString(16).padStart(64, '0');

const SUMS = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Sums {
    function next(uint256 n) external pure returns (uint256) { return n + 1; }
}
`;
const pot = (amount = 'amount', comment = ''): string => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Sums.sol";
${comment}
contract Pot {
    uint256 public immutable limit;
    uint256 public kept;
    constructor(uint256 most) { limit = most; }
    function keep(uint256 amount) external { require(${amount} <= limit); kept = Sums.next(amount); }
}
`;

describe.skipIf(absence)(`Solar${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;
  let library: Hex;
  let folder: Awaited<ReturnType<typeof createSolarFolder>>;
  let record: () => Promise<void>;

  const potInput = (source = pot(), settings: Readonly<Record<string, unknown>> = {}): TestInput =>
    inputOf(
      { [PATH]: source, [LIBRARY]: SUMS },
      {
        evmVersion: 'cancun',
        libraries: { [LIBRARY]: { Sums: library } },
        // Settings that Foundry always sends.
        remappings: ['forge-std/=lib/forge-std/src/'],
        ...settings,
      },
    );
  const deployPot = async (input: TestInput, limit: number) =>
    deploy(service.anvil, await compileSolar(input, PATH, 'Pot'), word(limit));
  const verify = (address: string, stdJsonInput: TestInput, compilerVersion = SOLAR_VERSION) =>
    service.verify(address, {
      ...{ stdJsonInput, compilerVersion, contractIdentifier: `${PATH}:Pot` },
    });

  beforeAll(async () => {
    record = await recordSolar();
    folder = await createSolarFolder();
    service = await startVerifyingService(() => `compilers: { folder: ${folder.path} }\n`);
    const input = inputOf({ [LIBRARY]: SUMS }, { evmVersion: 'cancun' });
    library = (await deploy(service.anvil, await compileSolar(input, LIBRARY, 'Sums'))).address;
  });
  afterAll(async () => {
    await record();
    await service.close();
    await folder.remove();
  });

  test('verifies in full with its own compiler, an immutable and a library', async () => {
    const input = potInput();
    const { address, transactionHash } = await deployPot(input, 7);
    const job = await verify(address, input, `v${SOLAR_VERSION}`);
    expect(job.error).toBeUndefined();
    expect(job.contract).toMatchObject({
      ...{ runtimeMatch: 'exact_match', creationMatch: 'exact_match' },
    });
    const contract = await service.contractAt(address);
    expect(contract.compilation).toMatchObject({
      ...{ language: 'Solidity', compiler: 'solar', compilerVersion: SOLAR_VERSION },
      compilerSettings: { remappings: ['forge-std/=lib/forge-std/src/'] },
    });
    expect(reasonsOf(contract.runtimeBytecode)).toEqual(['immutable']);
    expect(reasonsOf(contract.creationBytecode)).toEqual(['constructorArguments']);
    await expectEvidence(
      service,
      address,
      await inputOfTransaction(service.anvil, transactionHash),
    );
  });

  test('ignores settings of solc, so none of them is recorded', async () => {
    const input = potInput();
    const { address } = await deployPot(input, 8);
    const settings = { ...input.settings, viaIR: true, viaSSACFG: null };
    const job = await verify(address, { ...input, settings });
    expect(job.contract.match).toBe('exact_match');
    const { compilation } = await service.contractAt(address);
    expect(compilation['compilerSettings']).not.toHaveProperty('viaIR');
    const unknown = { ...input, settings: { ...input.settings, auditedBy: 'everybody' } };
    const unstable = { ...input, settings: { ...input.settings, solar: { unstable: ['x'] } } };
    const { address: another } = await deployPot(input, 9);
    for (const refused of [unknown, unstable]) {
      const { error } = await verify(another, refused);
      expect(error?.customCode).toBe('unsupported_setting');
    }
  });

  test('matches in part if a comment differs', async () => {
    const { address } = await deployPot(potInput(pot('amount', '// as deployed')), 10);
    const input = potInput(pot('amount', '// as sent'), { remappings: [] });
    const job = await verify(address, input);
    expect(job.error).toBeUndefined();
    expect(job.contract).toMatchObject({ runtimeMatch: 'match', creationMatch: 'match' });
    const { runtimeBytecode } = await service.contractAt(address);
    expect([...reasonsOf(runtimeBytecode)].sort()).toEqual(['cborAuxdata', 'immutable']);
  });

  test('finds the address of a library missing from the settings', async () => {
    // Its bytecode differs if the compiler is given the address.
    const open = potInput(pot(), { libraries: {} });
    const linked = (await compileSolar(open, PATH, 'Pot')).replaceAll(
      /__\$[0-9a-f]{34}\$__/g,
      library.slice(2),
    );
    const { address } = await deploy(service.anvil, linked, word(11));
    const job = await verify(address, open);
    expect(job.error).toBeUndefined();
    expect(job.contract.match).toBe('exact_match');
    const { runtimeBytecode } = await service.contractAt(address);
    expect(runtimeBytecode.transformationValues?.libraries).toEqual({
      [`${LIBRARY}:Sums`]: library,
    });
  });

  test('links no library that is not on chain', async () => {
    const input = potInput(pot(), { libraries: { [LIBRARY]: { Sums: `0x${'5a'.repeat(20)}` } } });
    const { address } = await deployPot(input, 12);
    expect((await verify(address, input)).error?.customCode).toBe('library_not_deployed');
  });

  test('stores its own address in a library', async () => {
    const file = 'src/Marks.sol';
    const source = `pragma solidity ^0.8.0;
library Marks {
    struct Mark { uint256 n; }
    function add(Mark storage mark) external { mark.n += 1; }
}
`;
    const input = inputOf({ [file]: source }, { evmVersion: 'cancun' });
    const { address } = await deploy(service.anvil, await compileSolar(input, file, 'Marks'));
    const job = await service.verify(address, {
      ...{ stdJsonInput: input, compilerVersion: SOLAR_VERSION },
      contractIdentifier: `${file}:Marks`,
    });
    expect(job.error).toBeUndefined();
    expect(job.contract.match).toBe('exact_match');
    const { runtimeBytecode } = await service.contractAt(address);
    expect(runtimeBytecode.transformationValues?.immutables).toEqual({
      library_deploy_address: address,
    });
  });

  test('does not match other bytecode', async () => {
    const { address } = await deployPot(potInput(), 12);
    const job = await verify(address, potInput(pot('(amount + 1)')));
    expect(job.error?.customCode).toMatch(/^(?:no_match|bytecode_length_mismatch)$/);
    const refused = await verify(address, potInput(pot('nonsense !')));
    expect(refused.error?.customCode).toBe('compiler_error');
  });

  test('verifies and reads over the Etherscan protocol', async () => {
    const { address } = await deployPot(potInput(), 13);
    const body = new URLSearchParams({
      ...{ module: 'contract', action: 'verifysourcecode', contractaddress: address },
      ...{ codeformat: 'solidity-standard-json-input', contractname: `${PATH}:Pot` },
      ...{ compilerversion: `v${SOLAR_VERSION}`, sourceCode: JSON.stringify(potInput()) },
    });
    const url = `${service.service.apiUrl}/v2/api?chainid=${VERIFIED_CHAIN_ID}`;
    const { result } = (await (await fetch(url, { method: 'POST', body })).json()) as {
      result: string;
    };
    expect((await pollJob(service.service.apiUrl, result)).error).toBeUndefined();
    const read = await fetch(`${url}&module=contract&action=getsourcecode&address=${address}`);
    const { result: records } = (await read.json()) as { result: Record<string, string>[] };
    expect(records[0]).toMatchObject({ CompilerVersion: `v${SOLAR_VERSION}` });
  });

  test('is listed as a separate compiler', async () => {
    const { compilers } = (await (
      await fetch(`${service.service.apiUrl}/v1/compilers`)
    ).json()) as { compilers: { compiler: string }[] };
    expect(compilers.filter(({ compiler }) => compiler === 'solar')).toEqual([
      { compiler: 'solar', longVersion: SOLAR_VERSION, installed: true, checksum: 'list' },
    ]);
  });

  describe('unavailable versions', () => {
    const NO_REFERENCES = /no immutableReferences and no linkReferences/;
    const jobOf = async (response: Promise<Response>) => {
      const answer = (await (await response).json()) as Record<string, string>;
      const id = answer['verificationId'] ?? answer['result'] ?? '';
      const { error } = await pollJob(service.service.apiUrl, id);
      return [error?.customCode, error?.message];
    };

    test.each([
      [`v${OLD_VERSION}`, NO_REFERENCES],
      // The commit of a solc release under the name of Solar.
      ['0.8.30+commit.73712a01.solar.0.3.0', /Solar .* is not installed here/],
    ])('reject %s in the same way in every protocol', async (compilerVersion, message) => {
      const { apiUrl } = service.service;
      const { address } = await deployPot(potInput(), 14);
      const input = potInput();
      const said = ['unsupported_compiler_version', expect.stringMatching(message)];
      const { error } = await verify(address, input, compilerVersion);
      expect([error?.customCode, error?.message]).toEqual(said);
      const place = `${VERIFIED_CHAIN_ID}/${address}`;
      const files = Object.fromEntries(
        Object.entries(input.sources).map(([path, { content }]) => [path, content]),
      );
      const sources = { files, compilerVersion, contract: `${PATH}:Pot` };
      expect(await jobOf(post(`${apiUrl}/v1/verify/sources/${place}`, sources))).toEqual(said);
      const metadata = {
        ...{ compiler: { version: compilerVersion }, language: 'Solidity', version: 1 },
        settings: { compilationTarget: { [LIBRARY]: 'Sums' } },
        ...{
          sources: { [LIBRARY]: { keccak256: bytesToHex(keccak256(Buffer.from(SUMS))) } },
          output: { abi: [] },
        },
      };
      const described = { sources: { [LIBRARY]: SUMS }, metadata };
      expect(await jobOf(post(`${apiUrl}/v2/verify/metadata/${place}`, described))).toEqual(said);
      const body = new URLSearchParams({
        ...{ module: 'contract', action: 'verifysourcecode', contractaddress: address },
        ...{ codeformat: 'solidity-standard-json-input', contractname: `${PATH}:Pot` },
        ...{ compilerversion: compilerVersion, sourceCode: JSON.stringify(input) },
      });
      for (const url of [
        `${apiUrl}/v2/api?chainid=${VERIFIED_CHAIN_ID}`,
        `${apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout/api`,
      ]) {
        expect(await jobOf(fetch(url, { method: 'POST', body }))).toEqual(said);
      }
      const verifier = `${apiUrl}/blockscout/api/v2/verifier/solidity/sources:verify-standard-json`;
      const asked = { bytecode: '0x6001', bytecodeType: 'CREATION_INPUT', compilerVersion };
      const verdict = await (
        await post(verifier, { ...asked, input: JSON.stringify(input) })
      ).json();
      expect(verdict).toMatchObject({
        status: 'FAILURE',
        message: expect.stringMatching(message) as string,
      });
    });
  });
});
