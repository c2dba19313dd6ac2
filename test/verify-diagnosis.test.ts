// Why sources do not produce the on-chain bytecode: common mistakes are tried and reported before any bytes.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';
import { type Diagnosis } from '../src/solidity/diagnosis.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.30';
const PATH = 'src/Bank.sol';
const BANK = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Vault {
    uint256 public total;
    function put(uint256 n) external { total += n * 2; }
}

contract Bank {
    mapping(address => uint256) public owed;
    string public name = "Bank of the tests";
    event Paid(address indexed who, uint256 amount);

    function deposit(uint256 amount) external payable {
        require(amount > 100, "too little");
        owed[msg.sender] += amount;
        emit Paid(msg.sender, amount);
    }

    function sum(uint256[] calldata amounts) external pure returns (uint256 all) {
        for (uint256 index = 0; index < amounts.length; index++) {
            all += amounts[index] * 31 + 1;
        }
    }
}
`;

type Settings = Readonly<Record<string, unknown>>;

describeWith([ANVIL], 'mismatch diagnosis', () => {
  let service: VerifyingService;
  beforeAll(async () => {
    service = await startVerifyingService(
      (folder) => `compilers: { folder: ${folder} }\nmcp: { enabled: true }\n`,
    );
  });
  afterAll(() => service.close());

  /** Deploys one input and submits another one. */
  const fail = async (
    deployed: { input: TestInput; version?: typeof VERSION | '0.8.37'; name?: string },
    sent: { input: TestInput; version?: string; name?: string },
  ): Promise<WireJob> => {
    const { version = VERSION, input, name = 'Bank' } = deployed;
    const made = await compileAsDeveloper(version, input, PATH, name);
    const { address } = await deploy(service.anvil, made.creationCode);
    return verifyOverV2(service.service.apiUrl, address, {
      stdJsonInput: sent.input,
      compilerVersion: sent.version ?? VERSION,
      contractIdentifier: `${PATH}:${sent.name ?? 'Bank'}`,
    });
  };
  test('does not repeat text that bytecode contains as its compiler version', async () => {
    const text = '0.8.30 audited, see evil.example';
    const map = `a164736f6c6378${text.length.toString(16)}${Buffer.from(text).toString('hex')}`;
    const code = `6001600155fe${map}${(map.length / 2).toString(16).padStart(4, '0')}`;
    const creationCode = `60${(code.length / 2).toString(16)}8060093d393df3`;
    const { address } = await deploy(service.anvil, `${creationCode}${code}`);
    const { error } = await verifyOverV2(service.service.apiUrl, address, {
      ...{ stdJsonInput: inputOf({ [PATH]: BANK }), compilerVersion: VERSION },
      contractIdentifier: `${PATH}:Bank`,
    });
    expect(error?.customCode).toBe('bytecode_length_mismatch');
    expect(error?.message).not.toContain('evil');
  });

  const diagnosisOf = ({ error }: WireJob): Diagnosis | undefined => {
    expect(['no_match', 'bytecode_length_mismatch']).toContain(error?.customCode);
    return error?.errorData?.['diagnosis'] as Diagnosis | undefined;
  };
  const with_ = (settings: Settings): TestInput => inputOf({ [PATH]: BANK }, settings);
  const runs = (count: number) => ({ optimizer: { enabled: true, runs: count } });

  test.each<[string, Settings, Settings, string]>([
    ['other runs', runs(999_999), runs(200), 'optimizer.enabled: true, optimizer.runs: 999999'],
    ['the runs of a template', runs(1), runs(200), 'optimizer.enabled: true, optimizer.runs: 1'],
    [
      'an optimizer that was off',
      { optimizer: { enabled: false } },
      runs(200),
      'optimizer.enabled: false',
    ],
    [
      'an optimizer that was on',
      runs(200),
      { optimizer: { enabled: false } },
      'optimizer.enabled: true, optimizer.runs: 200',
    ],
    ['the via-IR pipeline', { ...runs(200), viaIR: true }, runs(200), 'viaIR: true'],
    ['an older EVM', { ...runs(200), evmVersion: 'paris' }, runs(200), 'evmVersion: paris'],
    ['an EVM with the same opcodes', { evmVersion: 'shanghai' }, {}, 'evmVersion: shanghai'],
    [
      'two settings',
      { ...runs(1_000), evmVersion: 'london' },
      { optimizer: { enabled: false } },
      'optimizer.enabled: true, optimizer.runs: 1000, evmVersion: london',
    ],
  ])('names %s', async (_what, deployed, sent, settings) => {
    const job = await fail({ input: with_(deployed) }, { input: with_(sent) });
    expect(diagnosisOf(job)).toEqual({ settings, changes: expect.any(Object) as object });
    expect(job.error?.message).toMatch(`Matches with`);
    expect(job.error?.message).toContain(settings);
    expect(job.contract.match).toBeNull();
  });

  test('appears on the job page before any bytes, with what to do', async () => {
    const job = await fail({ input: with_(runs(1_000)) }, { input: with_(runs(200)) });
    const url = `${service.service.apiUrl}/job/${job.verificationId}`;
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    expect(page.indexOf('Matches with the optimizer on (1,000 runs)')).toBeGreaterThan(0);
    expect(page.indexOf('Matches with')).toBeLessThan(page.indexOf('Runtime code'));
  });

  test('names the on-chain contract of the same sources', async () => {
    const input = with_(runs(200));
    const job = await fail({ input, name: 'Vault' }, { input });
    expect(diagnosisOf(job)).toEqual({ contract: `${PATH}:Vault` });
  });

  test('names the compiler of the on-chain bytecode', async () => {
    const input = with_(runs(200));
    const job = await fail({ input, version: '0.8.37' }, { input });
    expect(diagnosisOf(job)).toMatchObject({ changes: { compilerVersion: '0.8.37' } });
    expect(job.error?.message).toContain('Matches with compiler 0.8.37');
  });

  test('names the compiler and the setting if both differ', async () => {
    const job = await fail(
      { input: with_(runs(1_000)), version: '0.8.37' },
      { input: with_(runs(200)) },
    );
    expect(diagnosisOf(job)?.changes).toEqual({
      compilerVersion: '0.8.37',
      optimizer: { enabled: true, runs: 1_000 },
    });
  });

  test('names the compiler alone if the sources differ as well', async () => {
    const changed = inputOf({ [PATH]: BANK.replace('amount > 100', 'amount > 101') }, runs(200));
    const job = await fail({ input: with_(runs(200)), version: '0.8.37' }, { input: changed });
    expect(diagnosisOf(job)?.compiler).toEqual({ onChain: '0.8.37', used: '0.8.30' });
  });

  test.each([
    ['amount > 100', 'amount > 101', 'deposit', 15],
    ['amounts[index] * 31 + 1', 'amounts[index] * 31 + index', 'sum', 22],
    ['owed[msg.sender] += amount', 'owed[msg.sender] += amount + 7', 'deposit', 16],
  ])('names the differing function and line: %s instead of %s', async (from, to, name, line) => {
    const input = inputOf({ [PATH]: BANK.replace(from, to) }, runs(200));
    const job = await fail({ input: with_(runs(200)) }, { input });
    const { place, sizes } = diagnosisOf(job) ?? {};
    expect([place?.path, place?.function, place?.line]).toEqual([PATH, name, line]);
    expect(place?.text).toContain(to);
    expect(job.error?.message).toMatch(`Differs in ${name}, ${PATH}:${line}; your sources compile`);
    const { recompiledRuntimeCode: ours = '', onchainRuntimeCode: theirs = '' } = job.error ?? {};
    expect(sizes).toEqual({
      compiled: ours.length / 2 - 1,
      onChain: theirs.length / 2 - 1,
    });
  });

  describe('of plain sources', () => {
    const CHANGED = BANK.replace('amount > 100', 'amount > 101');
    /** Deploys an optimized contract, and submits files without any setting. */
    const send = async (
      files: Readonly<Record<string, string>>,
      contract?: string,
    ): Promise<WireJob> => {
      const input = with_(runs(200));
      const { creationCode } = await compileAsDeveloper(VERSION, input, PATH, 'Bank');
      const { address } = await deploy(service.anvil, creationCode);
      const { apiUrl } = service.service;
      const response = await post(`${apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`, {
        ...{ files, compilerVersion: VERSION, contract },
      });
      const { verificationId } = (await response.json()) as { verificationId: string };
      return pollJob(apiUrl, verificationId);
    };

    test('names the line that differs with the closest settings', async () => {
      const diagnosis = diagnosisOf(await send({ [PATH]: CHANGED }));
      expect(diagnosis?.closest).toEqual({ optimizer: { enabled: true, runs: 200 } });
      expect(diagnosis?.place).toMatchObject({ path: PATH, function: 'deposit', line: 15 });
    });

    test('names another contract of the same name, and the settings with which it matches', async () => {
      const job = await send({ 'src/A.sol': CHANGED, [PATH]: BANK }, 'src/A.sol:Bank');
      expect(diagnosisOf(job)).toMatchObject({
        contract: `${PATH}:Bank`,
        changes: { optimizer: { enabled: true, runs: 200 } },
      });
    });
  });

  test('claims nothing about sources it cannot compare', async () => {
    const input = inputOf({
      [PATH]:
        'contract Bank { function x() public pure returns (bytes4) { return this.x.selector; } }',
    });
    const job = await fail({ input: with_(runs(200)) }, { input });
    const { settings, contract } = diagnosisOf(job) ?? {};
    expect([settings, contract]).toEqual([undefined, undefined]);
  });

  test('is available over the Model Context Protocol, without any bytecode', async () => {
    const job = await fail({ input: with_(runs(1)) }, { input: with_(runs(200)) });
    const client = new Client({ name: 'test', version: '1.0.0' });
    const url = new URL(`${service.service.apiUrl}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url));
    try {
      const { content } = await client.callTool({
        name: 'why_not_verified',
        arguments: { verificationId: job.verificationId },
      });
      const [first] = content as { text: string }[];
      const { error } = JSON.parse(first?.text ?? '') as WireJob;
      expect(error?.errorData?.['diagnosis']).toEqual(diagnosisOf(job));
      expect(
        Object.keys(error ?? {}).filter((key) => /(?:Creation|Runtime)Code$/.test(key)),
      ).toEqual([]);
    } finally {
      await client.close();
    }
  });
});
