// Contract files for other tools: the compiler input, the ABI, and an archive of everything.
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { compileInChild } from './support/compile-in-child.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const VERSION = '0.8.37+commit.f401782d';
const SOURCES = {
  'contracts/Sum.sol':
    'import "./Parts.sol";\ncontract Sum is Parts { function sum() external view returns (uint256) { return one + 1; } }',
  'contracts/Parts.sol': 'contract Parts { uint256 public one = 1; }',
};

describeWith([ANVIL], 'contract downloads', () => {
  let service: VerifyingService;
  let files: string;
  let creationCode: string;

  beforeAll(async () => {
    service = await startVerifyingService();
    const input = inputOf(SOURCES, { optimizer: { enabled: true, runs: 77 } });
    ({ creationCode } = await compileAsDeveloper('0.8.37', input, 'contracts/Sum.sol', 'Sum'));
    const { address } = await deploy(service.anvil, creationCode);
    const { apiUrl } = service.service;
    const job = await verifyOverV2(apiUrl, address, {
      ...{ stdJsonInput: input, compilerVersion: VERSION },
      contractIdentifier: 'contracts/Sum.sol:Sum',
    });
    expect(job.error).toBeUndefined();
    files = `${apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/files`;
  });
  afterAll(() => service.close());

  const codeOf = async (input: unknown): Promise<string | undefined> => {
    const [output] = await compileInChild<{
      contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
    }>('0.8.37', [input as object]);
    return output?.contracts['contracts/Sum.sol']?.['Sum']?.evm.bytecode.object;
  };

  test('the compiler accepts the input unchanged and produces the deployed bytecode', async () => {
    const response = await fetch(`${files}/standard-input.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Sum-solc-0\.8\.\d+\+commit\.[0-9a-f]{8}-standard-input\.json"$/,
    );
    const input = (await response.json()) as { sources: object };
    expect(Object.keys(input.sources).sort()).toEqual(Object.keys(SOURCES).sort());
    expect(await codeOf(input)).toBe(creationCode);
  });

  test('the archive contains the tree, the input and the ABI, byte-identical each time', async () => {
    const [one, other, abi] = await Promise.all(
      ['sources.zip', 'sources.zip', 'abi.json'].map(async (file) => {
        const response = await fetch(`${files}/${file}`, {
          headers: { 'accept-encoding': 'identity' },
        });
        expect(response.status).toBe(200);
        return Buffer.from(await response.arrayBuffer());
      }),
    );
    expect(one).toEqual(other);
    const entries = unzipSync(one ?? Buffer.alloc(0));
    const textOf = (name: string): string => Buffer.from(entries[name] ?? []).toString('utf8');
    for (const [name, text] of Object.entries(SOURCES)) {
      expect(textOf(`sources/${name}`)).toBe(text);
    }
    expect(await codeOf(JSON.parse(textOf('standard-input.json')))).toBe(creationCode);
    expect(textOf('abi.json')).toBe(abi?.toString('utf8'));
    expect(JSON.parse(textOf('abi.json'))).toHaveLength(2);
    expect(JSON.parse(textOf('metadata.json'))).toMatchObject({ language: 'Solidity' });
  });

  test('responds 304 to a client that already has the file', async () => {
    const tag = (await fetch(`${files}/sources.zip`)).headers.get('etag') ?? '';
    const again = await fetch(`${files}/sources.zip`, { headers: { 'if-none-match': tag } });
    expect(again.status).toBe(304);
  });

  test('rejects other file names and unverified contracts', async () => {
    expect((await fetch(`${files}/secrets.json`)).status).toBe(400);
    const absent = files.replace(/0x[0-9a-fA-F]{40}/, `0x${'12'.repeat(20)}`);
    const response = await fetch(`${absent}/abi.json`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { code: 'contract_not_found' },
    ]);
  });
});
