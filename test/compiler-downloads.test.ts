// Compilers that are downloaded while jobs wait, from a mirror in place of the official host.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { startBinariesMirror, type BinariesMirror } from './support/binaries-mirror.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post, verifyOverV2 } from './support/verification-client.ts';

const V20 = '0.8.20+commit.a1b79de6';
const V17 = '0.8.17+commit.8df45f5f';
const FILE = 'Box.sol';
const sourceOf = (more: string): string => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Box { uint256 public value = 1; ${more} }
`;
const SOURCES = {
  'src/Base.sol': 'pragma solidity ^0.8.0; contract Base { uint256 public base = 7; }',
  'src/Child.sol':
    'pragma solidity ^0.8.0; import "./Base.sol"; contract Child is Base { function f() external pure returns (uint256) { return 42; } }',
};

describeWith([ANVIL], 'compiler downloads', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let mirror: BinariesMirror;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  const services: BootedService[] = [];
  const start = async (): Promise<BootedService> => {
    const service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(anvil, `compilers: { folder: ${folder.path}/compilers }\n`),
      environment: { FULLMATCH_COMPILERS_DOWNLOAD_URL: mirror.url },
      compilesAnew: true,
    });
    services.push(service);
    return service;
  };
  let service: BootedService;
  beforeAll(async () => {
    [testDatabase, anvil, mirror, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      startBinariesMirror([V20, V17]),
      createTemporaryFolder(),
    ]);
    service = await start();
  });
  afterAll(async () => {
    mirror.release();
    for (const each of services) await each.close();
    await mirror.close();
    await anvil.stop();
    await folder.remove();
    await testDatabase.drop();
  });

  const deployed = async (version: '0.8.20' | '0.8.17' | '0.8.37', more: string) => {
    const input = inputOf({ [FILE]: sourceOf(more) });
    const { creationCode } = await compileAsDeveloper(version, input, FILE, 'Box');
    const { address } = await deploy(anvil, creationCode);
    const body = {
      stdJsonInput: input,
      compilerVersion: version,
      contractIdentifier: `${FILE}:Box`,
    };
    return { address, body };
  };
  const submit = async (address: Hex, body: object, to = service): Promise<string> => {
    const response = await post(`${to.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, body);
    const answer = (await response.json()) as { verificationId: string };
    expect([response.status, answer]).toEqual([202, expect.anything()]);
    return answer.verificationId;
  };
  const stateOf = async (id: string) =>
    (await (await fetch(`${service.apiUrl}/v1/jobs/${id}`)).json()) as {
      readonly state: string;
      readonly compilerDownload?: { readonly message: string; readonly totalBytes?: number };
    };
  const requestsFor = (version: string): number =>
    mirror.asked.filter((name) => name.endsWith(`soljson-v${version}.js`)).length;

  test('jobs of two processes share one download, report progress and occupy no worker', async () => {
    mirror.holdAt(0.5);
    const other = await start();
    const contracts = await Promise.all(
      ['', 'function a() external {}', 'function b() external {}'].map((more) =>
        deployed('0.8.20', more),
      ),
    );
    const ids = await Promise.all(
      contracts.map(({ address, body }, index) =>
        submit(address, body, index === 2 ? other : service),
      ),
    );
    for (const id of ids) {
      await expect
        .poll(async () => (await stateOf(id)).compilerDownload?.message)
        .toMatch(/^0\.8\.20: downloading, [1-9]\d* of \d+ MB$/);
      expect(await stateOf(id)).toMatchObject({ state: 'queued' });
    }
    const v2 = await fetch(`${service.apiUrl}/v2/verify/${ids[0]}`);
    expect(await v2.json()).toMatchObject({
      isJobCompleted: false,
      compilerDownload: { longVersion: V20 },
    });
    // Each process has three jobs for two workers, yet a job with an installed compiler still gets a worker.
    const { address, body } = await deployed('0.8.37', '');
    const installed = await verifyOverV2(service.apiUrl, address, body);
    expect(installed.contract.match).toBe('exact_match');
    mirror.release();
    for (const id of ids) {
      const job = await pollJob(service.apiUrl, id);
      expect([job.error, job.contract.match]).toEqual([undefined, 'exact_match']);
      expect(job).not.toHaveProperty('compilerDownload');
    }
    expect(requestsFor(V20)).toBe(1);
    const kept = await readdir(path.join(folder.path, 'compilers', 'downloads'));
    expect(kept.sort()).toEqual([`soljson-v${V20}.js`, `soljson-v${V20}.js.sha256`]);
  });

  test('a failing mirror ends the job with advice and reveals no folder', async () => {
    const { address, body } = await deployed('0.8.17', '');
    mirror.answer(500);
    const job = await verifyOverV2(service.apiUrl, address, body);
    mirror.answer(200);
    expect(job.error).toMatchObject({ customCode: 'compiler_unavailable' });
    expect(job.error?.message).toBe(`Solidity ${V17} is not available now; try again later.`);
    expect(job.error?.message).not.toContain(mirror.url);
    // Either process may have run the job; its log is read after the response.
    await expect
      .poll(() => services.map(({ logText }) => logText()).join(''))
      .toContain('answers 500');
  });

  test('compiler errors are returned verbatim and structured', async () => {
    const { address } = await deployed('0.8.37', 'function g() external {}');
    const broken = inputOf({ [FILE]: 'contract Box {\n  uint256 x = "text";\n}\n' });
    const job = await verifyOverV2(service.apiUrl, address, {
      stdJsonInput: broken,
      compilerVersion: '0.8.37',
      contractIdentifier: `${FILE}:Box`,
    });
    expect(job.error?.customCode).toBe('compiler_error');
    expect(job.error?.message).toContain(`${FILE}:2:15:\n  |\n2 |   uint256 x = "text";\n`);
    expect(job.error?.errorData).toMatchObject({
      compilerErrors: [
        {
          severity: 'error',
          type: 'TypeError',
          formattedMessage: expect.stringContaining('\n') as string,
        },
      ],
    });
  });

  describe('plain sources', () => {
    const sourcesUrl = (address: string): string =>
      `${service.apiUrl}/v1/verify/sources/${VERIFIED_CHAIN_ID}/${address}`;
    const settings = { optimizer: { enabled: true, runs: 999 }, evmVersion: 'paris' };
    let address: Hex;
    beforeAll(async () => {
      const input = inputOf(SOURCES, settings);
      const { creationCode } = await compileAsDeveloper('0.8.20', input, 'src/Child.sol', 'Child');
      ({ address } = await deploy(anvil, creationCode));
    });

    test('name each missing import', async () => {
      const { 'src/Child.sol': child } = SOURCES;
      const files = { 'src/Child.sol': `import "@oz/A.sol";\n${child}` };
      const response = await post(sourcesUrl(address), { files, compilerVersion: '0.8.20' });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'missing_sources',
        missingSources: [
          { name: '@oz/A.sol', path: '@oz/A.sol', from: 'src/Child.sol' },
          { name: './Base.sol', path: 'src/Base.sol', from: 'src/Child.sol' },
        ],
      });
    });

    test('get a compiler suggested from the on-chain bytecode', async () => {
      const proposal = `${service.apiUrl}/v1/verify/proposal/${VERIFIED_CHAIN_ID}`;
      const response = await fetch(`${proposal}/${address}`);
      expect(await response.json()).toEqual({
        codeBytes: expect.any(Number) as number,
        compiler: 'solc',
        compilerVersion: V20,
        from: 'auxdata',
      });
      const empty = await fetch(`${proposal}/0x${'12'.repeat(20)}`);
      expect([empty.status, ((await empty.json()) as { code: string }).code]).toEqual([
        404,
        'contract_not_deployed',
      ]);
    });

    test('that differ from the chain find no match and name no contract', async () => {
      const files = { ...SOURCES, 'src/Child.sol': SOURCES['src/Child.sol'].replace('42', '43') };
      const body = { files, compilerVersion: '0.8.20', optimizer: { enabled: false } };
      const response = await post(sourcesUrl(address), body);
      const { verificationId } = (await response.json()) as { verificationId: string };
      const job = await pollJob(service.apiUrl, verificationId);
      expect(job.error?.customCode).toBe('bytecode_length_mismatch');
    });

    test('are verified without a contract name, found by the on-chain bytecode', async () => {
      const body = { files: SOURCES, compilerVersion: 'v0.8.20', ...settings };
      const response = await post(sourcesUrl(address), body);
      const { verificationId } = (await response.json()) as { verificationId: string };
      const job = await pollJob(service.apiUrl, verificationId);
      expect([job.error, job.contract.match]).toEqual([undefined, 'exact_match']);
      const fields = 'compilation.fullyQualifiedName';
      const url = `${service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=${fields}`;
      expect(await (await fetch(url)).json()).toMatchObject({
        compilation: { fullyQualifiedName: 'src/Child.sol:Child' },
      });
    });

    test('fail if two contracts have the same bytecode and neither matches', async () => {
      const files = {
        'a.sol': 'contract A { function f() external {} } contract B { function f() external {} }',
      };
      const body = { files, compilerVersion: '0.8.20' };
      const { address: elsewhere } = await deployed('0.8.20', 'function twin() external {}');
      const response = await post(sourcesUrl(elsewhere), body);
      const { verificationId } = (await response.json()) as { verificationId: string };
      const job = await pollJob(service.apiUrl, verificationId);
      expect(job.error?.customCode).toBe('invalid_compilation_target');
    });
  });
});
