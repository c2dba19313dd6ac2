// Plain sources without the deployer's settings: the service tries common ones, uses the one that matches,
// and says which.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const VAULT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "./Sum.sol";

contract Vault {
    mapping(address => uint256) public owed;
    function put(uint256[] calldata amounts) external { owed[msg.sender] += Sum.total(amounts); }
}
`;
const SUM = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

library Sum {
    function total(uint256[] calldata amounts) internal pure returns (uint256 all) {
        for (uint256 index = 0; index < amounts.length; index++) all += amounts[index];
    }
}
contract Unrelated { function nothing() external pure returns (uint256) { return 7; } }
`;
const FILES = { 'src/Vault.sol': VAULT, 'src/Sum.sol': SUM };
const ONE_FILE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract One {
    mapping(address => uint256) public owed;
    function put(uint256 amount) external { owed[msg.sender] += amount * 3; }
}
`;
const OPTIMIZED = { optimizer: { enabled: true, runs: 1_000 } };

describeWith([ANVIL], 'verification of plain sources', () => {
  let service: VerifyingService;
  beforeAll(async () => {
    service = await startVerifyingService();
  });
  afterAll(() => service.close());

  const deployVault = async (settings: Readonly<Record<string, unknown>>): Promise<string> => {
    const input = inputOf(FILES, settings);
    const made = await compileAsDeveloper(VERSION, input, 'src/Vault.sol', 'Vault');
    return (await deploy(service.anvil, made.creationCode)).address;
  };
  const apiUrl = (): string => service.service.apiUrl;
  const verifySources = async (address: string, more: object = {}): Promise<WireJob> => {
    const response = await post(`${apiUrl()}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`, {
      ...{ files: FILES, compilerVersion: VERSION },
      ...more,
    });
    const { verificationId } = (await response.json()) as { readonly verificationId: string };
    return pollJob(apiUrl(), verificationId);
  };
  const settingsOf = async (address: string): Promise<unknown> => {
    const url = `${apiUrl()}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=compilation`;
    const contract = (await (await fetch(url)).json()) as {
      readonly compilation: { readonly compilerSettings: unknown; readonly name: string };
    };
    return [contract.compilation.name, contract.compilation.compilerSettings];
  };

  test('matches an optimized deployment without any setting, and says which it used', async () => {
    const address = await deployVault(OPTIMIZED);
    const job = await verifySources(address);
    expect([job.error, job.contract.match]).toEqual([undefined, 'exact_match']);
    expect(job.changedSettings).toEqual(OPTIMIZED);
    expect(await settingsOf(address)).toEqual(['Vault', expect.objectContaining(OPTIMIZED)]);
    const page = await fetch(`${apiUrl()}/job/${job.verificationId}`, {
      headers: { accept: 'text/html' },
    });
    expect(await page.text()).toContain('the optimizer on (1,000 runs)');
  });

  test('matches with two settings changed', async () => {
    const settings = { ...OPTIMIZED, evmVersion: 'paris' };
    const address = await deployVault(settings);
    const job = await verifySources(address, { contract: 'Vault' });
    expect([job.contract.match, job.changedSettings]).toEqual(['exact_match', settings]);
  });

  test.each([
    ['no metadata hash', { bytecodeHash: 'none' }, 'match'],
    ['a Swarm hash', { bytecodeHash: 'bzzr1' }, 'exact_match'],
    ['no metadata', { appendCBOR: false }, 'match'],
  ])('matches runtime and creation code with %s', async (_what, metadata, match) => {
    const address = await deployVault({ ...OPTIMIZED, metadata });
    const job = await verifySources(address, { contract: 'Vault' });
    expect([job.error, job.contract.match, job.contract.creationMatch]).toEqual([
      ...[undefined, match, match],
    ]);
    expect(job.changedSettings).toEqual({ ...OPTIMIZED, metadata });
    expect(await settingsOf(address)).toEqual(['Vault', expect.objectContaining({ metadata })]);
  });

  test('matches with an older compiler, which has no metadata settings', async () => {
    const source = 'pragma solidity >=0.5.0; contract Old { uint256 public kept = 7; }';
    const input = inputOf({ 'Old.sol': source }, OPTIMIZED);
    const made = await compileAsDeveloper('0.5.17', input, 'Old.sol', 'Old');
    const { address } = await deploy(service.anvil, made.creationCode);
    const files = { 'Old.sol': source };
    const job = await verifySources(address, { files, compilerVersion: '0.6.12', ...OPTIMIZED });
    expect([job.error, job.contract.match]).toEqual([undefined, 'exact_match']);
    expect(job.changedSettings).toEqual({ compilerVersion: '0.5.17' });
  });

  test('still fails with the difference if the bytecode names no version of a compiler', async () => {
    const code = await service.anvil.request<string>('eth_getCode', [
      ...[await deployVault(OPTIMIZED), 'latest'],
    ]);
    // A map with the text "99999.0.0" as `solc` in place of the metadata, and its length.
    const named = `a164736f6c6369${Buffer.from('99999.0.0').toString('hex')}0010`;
    const address = `0x${'5e'.repeat(20)}`;
    await service.anvil.request('anvil_setCode', [address, `${code.slice(0, -2 * 0x35)}${named}`]);
    const job = await verifySources(address, { contract: 'Vault' });
    expect(job.error?.customCode).toMatch(/^(?:no_match|bytecode_length_mismatch)$/);
  });

  test('names the metadata setting that standard JSON has wrong', async () => {
    const address = await deployVault({ ...OPTIMIZED, metadata: { bytecodeHash: 'bzzr1' } });
    const body = {
      ...{ stdJsonInput: inputOf(FILES, OPTIMIZED), compilerVersion: VERSION },
      contractIdentifier: 'src/Vault.sol:Vault',
    };
    const { error } = await verifyOverV2(apiUrl(), address, body);
    expect(error?.errorData?.['diagnosis']).toMatchObject({
      changes: { metadata: { bytecodeHash: 'bzzr1' } },
    });
  });

  test('names no setting if the submitted ones match', async () => {
    const address = await deployVault({ optimizer: { enabled: false, runs: 200 } });
    const job = await verifySources(address);
    expect([job.contract.match, job.changedSettings]).toEqual(['exact_match', undefined]);
  });

  test('uses exactly the given settings if trySettings is false', async () => {
    const address = await deployVault(OPTIMIZED);
    const job = await verifySources(address, { trySettings: false, contract: 'Vault' });
    expect(job.error?.errorData?.['diagnosis']).toMatchObject({ changes: OPTIMIZED });
  });

  test('is the default over the Etherscan protocol, too', async () => {
    const input = inputOf({ 'One.sol': ONE_FILE }, OPTIMIZED);
    const made = await compileAsDeveloper(VERSION, input, 'One.sol', 'One');
    const { address } = await deploy(service.anvil, made.creationCode);
    const response = await fetch(`${apiUrl()}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ module: 'contract', action: 'verifysourcecode', codeformat: 'solidity-single-file' },
        ...{ contractaddress: address, contractname: 'One', sourceCode: ONE_FILE },
        ...{ compilerversion: `v${VERSION}`, optimizationUsed: '0' },
      }),
    });
    const { result } = (await response.json()) as { readonly result: string };
    expect(result).toMatch(/^[0-9a-f-]{36}$/);
    const job = await pollJob(apiUrl(), result);
    expect([job.contract.match, job.changedSettings]).toEqual(['exact_match', OPTIMIZED]);
  });

  test('is off for standard JSON unless the request asks for it', async () => {
    const address = await deployVault(OPTIMIZED);
    const body = {
      ...{ stdJsonInput: inputOf(FILES, {}), compilerVersion: VERSION },
      contractIdentifier: 'src/Vault.sol:Vault',
    };
    expect((await verifyOverV2(apiUrl(), address, body)).error?.customCode).toMatch(
      /^(?:no_match|bytecode_length_mismatch)$/,
    );
    const job = await verifyOverV2(apiUrl(), address, { ...body, trySettings: true });
    expect([job.contract.match, job.changedSettings]).toEqual(['exact_match', OPTIMIZED]);
  });

  test('still fails, with the difference, if the sources are other ones', async () => {
    const address = await deployVault(OPTIMIZED);
    const files = { ...FILES, 'src/Vault.sol': VAULT.replace('+= Sum', '-= Sum') };
    const job = await verifySources(address, { files, contract: 'Vault', ...OPTIMIZED });
    expect(job.error?.errorData?.['diagnosis']).toMatchObject({ place: { function: 'put' } });
  });
});
