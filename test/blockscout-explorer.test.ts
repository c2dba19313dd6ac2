// Requests that clients send to Blockscout's API v2, for contracts on a real node.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const LONG_VERSION = 'v0.8.30+commit.73712a01';
const PATH = 'src/Counter.sol';
const BASE_PATH = 'src/Base.sol';
const SOURCES = {
  [PATH]: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Base.sol";
contract Counter is Base { uint256 public count; constructor(uint256 start) { count = start; } }`,
  [BASE_PATH]: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Base { function base() external pure returns (uint256) { return 1; } }`,
};
const FLAT = 'pragma solidity ^0.8.0; contract Flat { function flat() external {} }';
const ARGUMENTS = '7'.padStart(64, '0');
const NOBODY = `0x${'0'.repeat(38)}ff`;
const STARTED = { message: 'Smart-contract verification started' };
const UNVERIFIED = { is_verified: false, is_fully_verified: false, is_partially_verified: false };

describeWith([ANVIL], 'Blockscout API', () => {
  let service: VerifyingService;
  let base: string;
  const input = inputOf(SOURCES);
  const contracts = `/evm/${VERIFIED_CHAIN_ID}/blockscout/api/v2/smart-contracts`;

  const read = async (
    address: string,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${base}${contracts}/${address}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const send = async (
    address: string,
    way: string,
    fields: Readonly<Record<string, string>>,
    files: Readonly<Record<string, readonly [name: string, text: string]>> = {},
    prefix = '',
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const [name, [file, text]] of Object.entries(files)) {
      form.append(name, new Blob([text]), file);
    }
    const url = `${base}${prefix}${contracts}/${address}/verification/via/${way}`;
    const response = await fetch(url, { method: 'POST', body: form });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const verified = (address: string): Promise<Record<string, unknown>> =>
    expect
      .poll(() => read(address), { timeout: 60_000 })
      .toMatchObject({ body: { is_verified: true } })
      .then(async () => (await read(address)).body);
  const deployOf = async (
    sources: Record<string, string>,
    path: string,
    name: string,
    args = '',
  ) => {
    const compiled = await compileAsDeveloper(VERSION, inputOf(sources), path, name);
    const { address } = await deploy(service.anvil, compiled.creationCode, args);
    return { ...compiled, address };
  };
  const deployCounter = () => deployOf(SOURCES, PATH, 'Counter', ARGUMENTS);
  const deployFlat = (path: string) => deployOf({ [path]: FLAT }, path, 'Flat');
  const standardJson = { 'files[0]': ['input.json', JSON.stringify(input)] } as const;
  const compiler = { compiler_version: LONG_VERSION, license_type: 'mit' };

  beforeAll(async () => {
    service = await startVerifyingService();
    base = service.service.apiUrl;
  }, 60_000);
  afterAll(() => service.close());

  test('reports an unverified contract and whether the address has bytecode', async () => {
    const { address } = await deployCounter();
    expect(await read(address)).toEqual({ status: 200, body: UNVERIFIED });
    expect(await read(NOBODY)).toEqual({ status: 404, body: { message: 'Not found' } });
    expect(await read('0x12')).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/address/i) as string },
    });
    const unknownChain = await fetch(`${base}/evm/99/blockscout/api/v2/smart-contracts/${address}`);
    expect(unknownChain.status).toBe(400);
    expect(await unknownChain.json()).toEqual({
      message: expect.stringMatching(/No chain 99/) as string,
    });
    const nothing = await fetch(`${base}${contracts}/${address}/nothing`);
    expect(nothing.status).toBe(404);
    expect(await nothing.json()).toEqual({ message: 'Not found' });
  });

  test('verifies a standard JSON input and then returns the contract', async () => {
    const { address } = await deployCounter();
    const names = {
      contract_name: 'Counter',
      constructor_args: '',
      autodetect_constructor_args: 'true',
    };
    const sent = await send(address, 'standard-input', { ...compiler, ...names }, standardJson);
    expect(sent).toEqual({ status: 200, body: STARTED });
    expect(await verified(address)).toEqual({
      ...{ is_verified: true, is_fully_verified: true, is_partially_verified: false },
      name: 'Counter',
      language: 'solidity',
      compiler_version: LONG_VERSION,
      compiler_settings: expect.objectContaining({
        optimizer: { enabled: true, runs: 200 },
      }) as object,
      optimization_enabled: true,
      optimization_runs: 200,
      evm_version: 'default',
      abi: expect.arrayContaining([expect.objectContaining({ name: 'count' })]) as object,
      file_path: PATH,
      source_code: SOURCES[PATH],
      additional_sources: [{ file_path: BASE_PATH, source_code: SOURCES[BASE_PATH] }],
      constructor_args: ARGUMENTS,
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    });
    const again = await send(address, 'standard-input', compiler, standardJson);
    expect(again).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/already/i) as string },
    });
  });

  test('returns getsourcecode in the Blockscout shape, and in the Etherscan shape at its own path', async () => {
    const { address } = await deployCounter();
    await send(address, 'standard-input', compiler, standardJson);
    await verified(address);
    const ask = async (dialect: string, of: string = address) => {
      const query = new URLSearchParams({
        module: 'contract',
        action: 'getsourcecode',
        address: of,
      });
      const url = `${base}/evm/${VERIFIED_CHAIN_ID}/${dialect}/api?${query.toString()}`;
      return ((await (await fetch(url)).json()) as { result: readonly unknown[] }).result[0];
    };
    expect(await ask('blockscout')).toEqual({
      Address: address,
      SourceCode: SOURCES[PATH],
      ABI: expect.stringContaining('"count"') as string,
      ContractName: 'Counter',
      FileName: PATH,
      AdditionalSources: [{ Filename: BASE_PATH, SourceCode: SOURCES[BASE_PATH] }],
      CompilerVersion: LONG_VERSION,
      CompilerSettings: expect.objectContaining({
        optimizer: { enabled: true, runs: 200 },
      }) as object,
      OptimizationUsed: 'true',
      OptimizationRuns: 200,
      EVMVersion: 'default',
      ConstructorArguments: ARGUMENTS,
      LicenseType: 'MIT',
      IsProxy: 'false',
      VerifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    });
    expect(await ask('etherscan')).toMatchObject({ ContractFileName: PATH, Proxy: '0' });
    expect(await ask('etherscan')).not.toHaveProperty('FileName');
    expect(await ask('blockscout', NOBODY)).toEqual({
      ...{ Address: NOBODY, SourceCode: '', ABI: 'Contract source code not verified' },
      ...{ ContractName: '', CompilerVersion: '' },
    });
  });

  test('verifies metadata with sources, which rocketh sends as standard JSON input', async () => {
    const literal = inputOf(SOURCES, { metadata: { useLiteralContent: true } });
    const { creationCode, metadata } = await compileAsDeveloper(VERSION, literal, PATH, 'Counter');
    const { address } = await deploy(service.anvil, creationCode, ARGUMENTS);
    const fields = {
      ...{ address_hash: address, compiler_version: LONG_VERSION.slice(1) },
      ...{ constructor_args: `0x${ARGUMENTS}`, autodetect_constructor_args: 'false' },
      contract_name: `${PATH}:Counter`,
    };
    const files = { 'files[0]': ['metadata.json', metadata] } as const;
    expect((await send(address, 'standard-input', fields, files, '/server')).body).toEqual(STARTED);
    expect(await verified(address)).toMatchObject({ is_fully_verified: true, name: 'Counter' });
  });

  test('verifies flattened source, as a form and as JSON', async () => {
    const fields = {
      ...compiler,
      ...{ contract_name: 'Flat', is_optimization_enabled: 'true', optimization_runs: '200' },
      ...{ evm_version: 'default', source_code: FLAT },
    };
    const [one, two] = [await deployFlat('Flat.sol'), await deployFlat('Other.sol')];
    expect((await send(one.address, 'flattened-code', fields)).body).toEqual(STARTED);
    expect(await verified(one.address)).toMatchObject({
      ...{ is_fully_verified: true, file_path: 'Flat.sol', additional_sources: [] },
    });
    const asJson = await fetch(
      `${base}${contracts}/${two.address}/verification/via/flattened-code`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...fields,
          is_optimization_enabled: true,
          optimization_runs: 200,
          libraries: {},
        }),
      },
    );
    expect(await asJson.json()).toEqual(STARTED);
    expect(await verified(two.address)).toMatchObject({ is_partially_verified: true });
  });

  test('verifies several files and finds the contract by the on-chain bytecode', async () => {
    const { address } = await deployCounter();
    const files = {
      'files[0]': [BASE_PATH, SOURCES[BASE_PATH]],
      'files[1]': [PATH, SOURCES[PATH]],
    } as const;
    const fields = {
      ...compiler,
      is_optimization_enabled: 'true',
      optimization_runs: '200',
      libraries: '{}',
    };
    expect((await send(address, 'multi-part', fields, files)).body).toEqual(STARTED);
    expect(await verified(address)).toMatchObject({ name: 'Counter', file_path: PATH });
  });

  test('verifies metadata and sources in the Sourcify format', async () => {
    const { address, metadata } = await deployCounter();
    const files = {
      'files[0]': ['metadata.json', metadata],
      'files[1]': ['Counter.sol', SOURCES[PATH]],
      'files[2]': ['Base.sol', SOURCES[BASE_PATH]],
    } as const;
    expect((await send(address, 'sourcify', {}, files)).body).toEqual(STARTED);
    expect(await verified(address)).toMatchObject({ is_fully_verified: true });
  });

  test('checks constructor arguments when the client supplies them', async () => {
    const { address } = await deployCounter();
    const other = { constructor_args: '8'.padStart(64, '0'), autodetect_constructor_args: 'false' };
    await send(address, 'standard-input', { ...compiler, ...other }, standardJson);
    expect(await read(address)).toEqual({ status: 200, body: UNVERIFIED });
  });

  test('rejects invalid submissions in the Blockscout error format', async () => {
    const { address } = await deployCounter();
    const source = { source_code: FLAT };
    const refused: readonly [string, Record<string, string>, Parameters<typeof send>[3], RegExp][] =
      [
        ['standard-input', compiler, {}, /files/],
        [
          'standard-input',
          compiler,
          { 'files[0]': ['a.json', '{'] },
          /standard JSON input is refused/,
        ],
        ['standard-input', compiler, { 'files[0]': ['a.json', '{}'] }, /language/],
        ['standard-input', {}, standardJson, /compiler_version/],
        ['flattened-code', compiler, {}, /source_code/],
        [
          'flattened-code',
          { ...compiler, ...source, optimization_runs: 'x' },
          {},
          /optimization_runs/,
        ],
        ['flattened-code', { ...compiler, ...source, libraries: '[1]' }, {}, /libraries/],
        ['vyper-code', compiler, {}, /source_code/],
        ['vyper-multi-part', compiler, {}, /files/],
        ['sourcify', {}, { 'files[0]': ['a.txt', 'x'] }, /do not show how they were compiled/],
      ];
    for (const [way, fields, files, text] of refused) {
      const { status, body } = await send(address, way, fields, files);
      expect([way, status, body]).toEqual([
        way,
        400,
        { message: expect.stringMatching(text) as string },
      ]);
    }
    const gone = await send(NOBODY, 'standard-input', compiler, standardJson);
    expect(gone).toMatchObject({ status: 404, body: { message: expect.any(String) as string } });
    const url = `${base}${contracts}/${address}/verification/via/flattened-code`;
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(40_000_000) });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ message: expect.any(String) as string });
  });

  test('lists compilers and verification methods', async () => {
    const response = await fetch(`${base}${contracts}/verification/config`);
    expect(await response.json()).toMatchObject({
      solidity_compiler_versions: expect.arrayContaining([LONG_VERSION]) as object,
      verification_options: expect.arrayContaining(['standard-input', 'sourcify']) as object,
      is_rust_verifier_microservice_enabled: true,
    });
  });
});
