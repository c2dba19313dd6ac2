// Contracts of compilers without standard JSON, deployed and verified like any other.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { compileWithPackage } from './support/compile-in-child.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { inputOf, type TestInput } from './support/developer.ts';
import { pollJob, post, verifyOverV2 } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const SOURCES = {
  'Named.sol': `import "names/Base.sol";
contract Named is Base { function Named(uint start) { kept = start; } function keep(uint v) { kept = v; } }`,
  'names/Base.sol': 'contract Base { uint public kept; }',
  'Other.sol': 'contract Other { uint public other; }',
};
const ARGUMENT = '7'.padStart(64, '0');

interface Output {
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
  >;
}

/**
 * The creation bytecode that the newest solc wrapper gets from an old compiler: before 0.4.9 contracts have
 * no path.
 */
async function creationCodeOf(release: string, input: TestInput): Promise<string> {
  const [output] = await compileWithPackage<Output>(`solc-${release}`, release, [input]);
  const named = output?.contracts['Named.sol'] ?? output?.contracts[''];
  const code = named?.['Named']?.evm.bytecode.object;
  if (code === undefined) throw new Error(JSON.stringify(output));
  return `${code}${ARGUMENT}`;
}

describeWith([ANVIL], 'Solidity without standard JSON', () => {
  let service: VerifyingService;
  beforeAll(async () => {
    service = await startVerifyingService();
  });
  afterAll(() => service.close());

  test.each([
    ['0.3.6', '0.3.6+commit.3fc68da5', 'match'],
    ['0.4.6', '0.4.6+commit.2dabbdf0', 'match'],
    ['0.4.9', '0.4.9+commit.364da425', 'exact_match'],
  ])(
    'a contract of %s is verified, published and shown',
    async (release, compilerVersion, match) => {
      const sent = inputOf(SOURCES, { optimizer: { enabled: true, runs: 200 } });
      const { address } = await deploy(service.anvil, await creationCodeOf(release, sent));
      const { apiUrl, repositoryUrl } = service.service;
      const job = await verifyOverV2(apiUrl, address, {
        ...{ stdJsonInput: sent, compilerVersion, contractIdentifier: 'Named.sol:Named' },
      });
      expect(job.error).toBeUndefined();
      expect(job.contract).toMatchObject({ match, runtimeMatch: match, creationMatch: match });

      const url = `${apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=all`;
      const record = (await (await fetch(url)).json()) as {
        readonly sources: object;
        readonly metadata: unknown;
        readonly compilation: object;
        readonly creationBytecode: { readonly transformationValues: object };
      };
      expect(record.compilation).toMatchObject({
        language: 'Solidity',
        compilerVersion,
        name: 'Named',
      });
      expect(record.creationBytecode.transformationValues).toEqual({
        constructorArguments: `0x${ARGUMENT}`,
      });
      const hasMetadata = match === 'exact_match';
      expect(record.metadata === null).toBe(!hasMetadata);
      // Metadata of that time lists every file given to the compiler.
      const needed = ['Named.sol', 'names/Base.sol'];
      expect(Object.keys(record.sources).sort()).toEqual(
        (hasMetadata ? Object.keys(SOURCES) : needed).sort(),
      );

      const page = `${apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`;
      expect((await fetch(page, { headers: { accept: 'text/html' } })).status).toBe(200);
      const level = hasMetadata ? 'full_match' : 'partial_match';
      const tree = `${repositoryUrl}/contracts/${level}/${VERIFIED_CHAIN_ID}/${job.contract?.address ?? ''}`;
      expect((await fetch(`${tree}/sources/Named.sol`)).status).toBe(200);
      expect((await fetch(`${tree}/metadata.json`)).status).toBe(hasMetadata ? 200 : 404);
    },
  );

  test('the contract is detected by the on-chain bytecode when none is named', async () => {
    const made = inputOf(SOURCES, { optimizer: { enabled: false } });
    const { address } = await deploy(service.anvil, await creationCodeOf('0.4.6', made));
    const { apiUrl } = service.service;
    const answer = await post(`${apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`, {
      files: SOURCES,
      compilerVersion: '0.4.6',
    });
    expect(answer.status).toBe(202);
    const { verificationId } = (await answer.json()) as { verificationId: string };
    const job = await pollJob(apiUrl, verificationId);
    expect(job.error).toBeUndefined();
    expect(job.contract.match).toBe('match');
  });

  test.each([
    [
      'unsupported optimizer runs',
      { optimizer: { enabled: true, runs: 1 } },
      'unsupported_setting',
    ],
    ['different optimizer settings', { optimizer: { enabled: false } }, 'bytecode_length_mismatch'],
  ])('%s do not match', async (_what, settings, customCode) => {
    const made = inputOf(SOURCES, { optimizer: { enabled: true, runs: 200 } });
    const { address } = await deploy(service.anvil, await creationCodeOf('0.4.6', made));
    const job = await verifyOverV2(service.service.apiUrl, address, {
      stdJsonInput: inputOf(SOURCES, settings),
      compilerVersion: '0.4.6+commit.2dabbdf0',
      contractIdentifier: 'Named.sol:Named',
    });
    expect(job.error?.customCode).toBe(customCode);
    expect(job.contract).toMatchObject({ match: null });
  });
});
