// Via-IR bytecode of old compilers depends on the order in which the compiler gets its files. Command lines
// name one file, and the compiler finds the others through imports; standard JSON names all of them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2, type WireJob } from './support/verification-client.ts';
import {
  inputOfTransaction,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';

const VERSION = '0.8.20';
const LONG_VERSION = 'v0.8.20+commit.a1b79de6';
const ROOT = 'z.sol';
const FULL = { runtimeMatch: 'exact_match', creationMatch: 'exact_match' };

/** Two functions with one name, which the compiler sorts by numbers derived from the file order. */
const library = (name: string, sum: string): string => `pragma solidity >=0.8.0;
library ${name} { function f(mapping(uint256 => uint256) storage m, uint256 x) internal view returns (uint256 s) { for (uint256 i; i < x; i++) s += ${sum}; } }`;

/** @param mark distinguishes projects, so that none is verified with the stored sources of another */
function projectOf(mark: string) {
  const sources = {
    'a.sol': library('A', 'm[i] * 3'),
    'b.sol': library('B', 'm[i + 1] / 7 + i + i + i + i + i'),
    [ROOT]: `pragma solidity >=0.8.0;
import "./b.sol"; import "./a.sol";
contract Z { mapping(uint256 => uint256) m; function set(uint256 k) external { m[k] = k; } function g(uint256 x) external view returns (uint256) { return A.f(m, x) + B.f(m, x); } function h(uint256 x) external view returns (uint256) { return A.f(m, x + 1) * B.f(m, x + 2); } }
// ${mark}`,
  };
  return { sources, input: inputOf(sources, { viaIR: true }) };
}
type Project = ReturnType<typeof projectOf>;

describeWith([ANVIL], 'source file order', () => {
  let service: VerifyingService;
  let apiUrl: string;
  beforeAll(async () => {
    service = await startVerifyingService();
    ({ apiUrl } = service.service);
  });
  afterAll(() => service.close());

  const deployed = async ({ input }: Project, root?: string) => {
    const { creationCode, metadata } = await compileAsDeveloper(VERSION, input, ROOT, 'Z', root);
    const { address, transactionHash } = await deploy(service.anvil, creationCode);
    return { address, metadata, transactionHash };
  };
  const bodyOf = ({ input }: Project) => ({
    ...{ stdJsonInput: input, compilerVersion: LONG_VERSION },
    contractIdentifier: `${ROOT}:Z`,
  });
  const jsonOf = async <Answer>(response: Response): Promise<Answer> =>
    (await response.json()) as Answer;
  const end = async (response: Response): Promise<WireJob> => {
    expect(response.status).toBe(202);
    return pollJob(apiUrl, (await jsonOf<{ verificationId: string }>(response)).verificationId);
  };
  const matchOf = async (address: string): Promise<object> => service.contractAt(address);

  test('changes the bytecode but not the metadata', async () => {
    const { input } = projectOf('codes');
    const [all, alone] = [
      await compileAsDeveloper(VERSION, input, ROOT, 'Z'),
      await compileAsDeveloper(VERSION, input, ROOT, 'Z', ROOT),
    ];
    expect(alone.creationCode).not.toBe(all.creationCode);
    expect(alone.metadata).toBe(all.metadata);
  });

  test('does not prevent a match by standard JSON input, with a named or a detected contract', async () => {
    const project = projectOf('standard JSON');
    for (const more of [{}, { creationTransactionHash: 'own' }]) {
      const { address, transactionHash } = await deployed(project, ROOT);
      const hash = 'creationTransactionHash' in more && {
        creationTransactionHash: transactionHash,
      };
      const job = await verifyOverV2(apiUrl, address, { ...bodyOf(project), ...hash });
      expect(job.error).toBeUndefined();
      expect(job.contract).toMatchObject(FULL);
    }
  });

  test('does not prevent a match by metadata and sources, over v2 and v1', async () => {
    const { sources, ...project } = projectOf('metadata');
    const one = await deployed({ sources, ...project }, ROOT);
    const url = `${apiUrl}/v2/verify/metadata/${VERIFIED_CHAIN_ID}/${one.address}`;
    const job = await end(
      await post(url, { metadata: JSON.parse(one.metadata) as object, sources }),
    );
    expect(job.contract).toMatchObject(FULL);
    const { address, metadata } = await deployed({ sources, ...project }, ROOT);
    const files = { 'metadata.json': metadata, ...sources };
    const v1 = await post(`${apiUrl}/verify`, { address, chain: `${VERIFIED_CHAIN_ID}`, files });
    expect(await v1.json()).toMatchObject({ result: [{ status: 'perfect' }] });
  });

  test('does not prevent a match by plain sources with the contract detected on chain', async () => {
    const { sources, ...project } = projectOf('plain sources');
    const { address } = await deployed({ sources, ...project }, ROOT);
    const url = `${apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`;
    const optimizer = { enabled: true, runs: 200 };
    const body = { files: sources, compilerVersion: LONG_VERSION, optimizer, viaIR: true };
    const job = await end(await post(url, body));
    expect(job.error).toBeUndefined();
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
  });

  test.each(['etherscan', 'blockscout'])(
    'does not prevent a match over the %s protocol',
    async (dialect) => {
      const project = projectOf(dialect);
      const { address } = await deployed(project, ROOT);
      const url = `${apiUrl}/evm/${VERIFIED_CHAIN_ID}/${dialect}/api`;
      const submitted = await fetch(url, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ module: 'contract', action: 'verifysourcecode', contractaddress: address },
          ...{ codeformat: 'solidity-standard-json-input', contractname: `${ROOT}:Z` },
          ...{ compilerversion: LONG_VERSION, sourceCode: JSON.stringify(project.input) },
        }),
      });
      const { result } = await jsonOf<{ result: string }>(submitted);
      expect((await pollJob(apiUrl, result)).error).toBeUndefined();
      expect(await matchOf(address)).toMatchObject(FULL);
    },
  );

  test('does not prevent a match by the Blockscout verifier, for single and batched bytecode', async () => {
    const project = projectOf('verifier');
    const { address, transactionHash } = await deployed(project, ROOT);
    const creationCode = await inputOfTransaction(service.anvil, transactionHash);
    const runtimeCode = await service.anvil.request<string>('eth_getCode', [address, 'latest']);
    const input = JSON.stringify(project.input);
    const base = `${apiUrl}/blockscout/api/v2/verifier/solidity/sources`;
    for (const [bytecodeType, bytecode] of [
      ['CREATION_INPUT', creationCode],
      ['DEPLOYED_BYTECODE', runtimeCode],
    ]) {
      const body = { bytecode, bytecodeType, compilerVersion: LONG_VERSION, input };
      expect(await (await post(`${base}:verify-standard-json`, body)).json()).toMatchObject({
        status: 'SUCCESS',
        source: { contractName: 'Z', fileName: ROOT, matchType: 'FULL' },
      });
    }
    const all = await compileAsDeveloper(VERSION, project.input, ROOT, 'Z');
    const contracts = [{ creationCode, runtimeCode }, { creationCode: `0x${all.creationCode}` }];
    const batch = await post(`${base}:batch-verify-standard-json`, {
      ...{ contracts, compilerVersion: LONG_VERSION, input },
    });
    const { contractVerificationResults } = await jsonOf<{
      contractVerificationResults: { items: object[] };
    }>(batch);
    const full = { success: { contractName: 'Z' } };
    expect(contractVerificationResults.items).toMatchObject([full, full]);
    const forged = `0x${creationCode.slice(2).replace('5b', '5a')}`;
    const other = { bytecode: forged, bytecodeType: 'CREATION_INPUT' };
    const verdict = await post(`${base}:verify-standard-json`, {
      ...{ ...other, compilerVersion: LONG_VERSION, input },
    });
    expect(await verdict.json()).toMatchObject({ status: 'FAILURE' });
  });

  test.each([
    ['from the root', 'all at once', undefined, ROOT],
    ['all at once', 'from the root', ROOT, undefined],
  ])(
    'does not prevent a match with sources compiled %s for bytecode compiled %s',
    async (_ours, _theirs, first, second) => {
      const project = projectOf(`known ${String(first)}`);
      const known = await deployed(project, first);
      const job = await verifyOverV2(apiUrl, known.address, bodyOf(project));
      expect(job.contract).toMatchObject(FULL);
      const { address } = await deployed(project, second);

      const bytecode = await service.anvil.request<string>('eth_getCode', [address, 'latest']);
      const search = async (): Promise<object> => {
        const url = `${apiUrl}/blockscout/api/v2/bytecodes/sources:search`;
        const body = { bytecode, bytecodeType: 'DEPLOYED_BYTECODE' };
        return (await (await post(url, body)).json()) as object;
      };
      // The index follows the matches with a delay.
      await expect
        .poll(search, { timeout: 60_000, interval: 100 })
        .toMatchObject({ sources: [{ contractName: 'Z', matchType: 'FULL' }] });

      const url = `${apiUrl}/v2/verify/similarity/${VERIFIED_CHAIN_ID}/${address}`;
      const similar = await end(await post(url, {}));
      expect(similar.error).toBeUndefined();
      expect(similar.contract).toMatchObject(FULL);
    },
  );
});
