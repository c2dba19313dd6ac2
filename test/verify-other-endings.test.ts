// Contracts compiled with other metadata settings than in the submitted input.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const LONG_VERSION = '0.8.30+commit.73712a01';
const SOURCE =
  'contract Kept { uint256 public kept; function keep(uint256 v) external { kept = v; } }';
const NAME = 'K.sol:Kept';

const inputWith = (metadata: Record<string, unknown>) => inputOf({ 'K.sol': SOURCE }, { metadata });
const USUAL = inputWith({});
const NO_AUXDATA = inputWith({ appendCBOR: false });
const VIA_IR = inputOf({ 'K.sol': SOURCE }, { viaIR: true });
const NO_HASH = inputWith({ bytecodeHash: 'none' });

describeWith([ANVIL], 'metadata settings that differ from the submission', () => {
  let service: VerifyingService;
  beforeAll(async () => {
    service = await startVerifyingService();
  });
  afterAll(() => service.close());

  test.each([
    ['without auxdata', NO_AUXDATA, USUAL, 'delete'],
    ['without a hash', NO_HASH, USUAL, 'replace'],
    ['with a hash, submitted without one,', USUAL, NO_HASH, 'replace'],
    ['with auxdata, submitted without it,', USUAL, NO_AUXDATA, 'insert'],
    [
      'via IR with auxdata, submitted without it,',
      VIA_IR,
      { ...VIA_IR, settings: { ...VIA_IR.settings, metadata: { appendCBOR: false } } },
      'insert',
    ],
  ])('bytecode %s matches in part, and the difference is recorded', async (_, made, sent, type) => {
    const { creationCode } = await compileAsDeveloper(VERSION, made, 'K.sol', 'Kept');
    const { address } = await deploy(service.anvil, creationCode);
    const { apiUrl } = service.service;
    const job = await verifyOverV2(apiUrl, address, {
      ...{ stdJsonInput: sent, compilerVersion: LONG_VERSION, contractIdentifier: NAME },
    });
    expect(job.error).toBeUndefined();
    expect(job.contract).toMatchObject({ match: 'match', runtimeMatch: 'match' });
    const url = `${apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=runtimeBytecode`;
    const { runtimeBytecode } = (await (await fetch(url)).json()) as {
      runtimeBytecode: { recompiledBytecode: string; transformations: object[] };
    };
    expect(runtimeBytecode.transformations).toMatchObject([{ type, reason: 'cborAuxdata' }]);
    const page = await fetch(`${apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`, {
      headers: { accept: 'text/html' },
    });
    expect(page.status).toBe(200);
    const tree = `${service.service.repositoryUrl}/contracts/partial_match/${VERIFIED_CHAIN_ID}`;
    expect((await fetch(`${tree}/${job.contract?.address ?? ''}/metadata.json`)).status).toBe(200);
  });

  test('bytecode without auxdata and with another byte does not match', async () => {
    const { creationCode } = await compileAsDeveloper(VERSION, NO_AUXDATA, 'K.sol', 'Kept');
    const at = creationCode.lastIndexOf('5b');
    const other = `${creationCode.slice(0, at)}5c${creationCode.slice(at + 2)}`;
    const { address } = await deploy(service.anvil, other);
    const job = await verifyOverV2(service.service.apiUrl, address, {
      ...{ stdJsonInput: USUAL, compilerVersion: LONG_VERSION, contractIdentifier: NAME },
    });
    expect(job.error?.customCode).toBeDefined();
    expect(job.contract).toMatchObject({ match: null });
  });

  test('other bytecode with the metadata of the sources is not blamed on missing files', async () => {
    const { creationCode } = await compileAsDeveloper(VERSION, USUAL, 'K.sol', 'Kept');
    // The last executed instruction, before the auxdata.
    const at = creationCode.lastIndexOf('56fea264');
    expect(at).toBeGreaterThan(0);
    const other = `${creationCode.slice(0, at)}57${creationCode.slice(at + 2)}`;
    const { address } = await deploy(service.anvil, other);
    const job = await verifyOverV2(service.service.apiUrl, address, {
      ...{ stdJsonInput: USUAL, compilerVersion: LONG_VERSION, contractIdentifier: NAME },
    });
    expect(job.error).toMatchObject({ customCode: 'no_match' });
  });

  test('bytecode without the last byte of trailing data does not match: that byte is zero', async () => {
    // The optimizer places frequently used constants behind the code, where only bytecode without auxdata
    // ends.
    const constant = `0x${'9d3f1c5a7b2e4860'.repeat(3)}4f3e2d1c0bfa8efe`;
    const source = `contract Vault {
      uint256 constant KEY = ${constant};
      mapping(uint256 => uint256) private kept;
      function key(uint256 from) external pure returns (uint256) { return from ^ KEY; }
      function keep(uint256 at) external { kept[at] = KEY; }
      function isKey(uint256 given) external pure returns (bool) { return given == KEY; }
      function both(uint256 given) external pure returns (uint256) { return given | KEY; }
    }`;
    const input = inputOf({ 'V.sol': source }, { optimizer: { enabled: true, runs: 1 } });
    const { creationCode } = await compileAsDeveloper(VERSION, input, 'V.sol', 'Vault');
    const code = creationCode.slice(creationCode.indexOf('fe6080') + 2);
    const cut = code.slice(0, code.lastIndexOf('fea264697066735822'));
    expect(cut.endsWith(constant.slice(2, -2))).toBe(true);
    const bytes = (cut.length / 2).toString(16).padStart(4, '0');
    const { address } = await deploy(service.anvil, `61${bytes}80600a3d393df3${cut}`);
    const job = await verifyOverV2(service.service.apiUrl, address, {
      ...{ stdJsonInput: input, compilerVersion: LONG_VERSION, contractIdentifier: 'V.sol:Vault' },
    });
    expect(job.contract).toMatchObject({ match: null });
    expect(job.error?.customCode).toBe('bytecode_length_mismatch');
  });
});
