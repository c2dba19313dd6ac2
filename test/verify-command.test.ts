import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  configOf,
  deploy,
  findAnvil,
  NO_ANVIL,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { findFreePort } from './support/free-port.ts';
import { runInProcess, type CliRun } from './support/run-cli.ts';
import { sampleAddress } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';

const PATH = 'src/Box.sol';
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Box { uint256 public value; function set(uint256 v) external { value = v; } }
`;
/** A URL without a listener. */
async function closedUrl(): Promise<string> {
  return `http://127.0.0.1:${await findFreePort()}`;
}

const CHAIN = String(VERIFIED_CHAIN_ID);
const installed = findAnvil() !== undefined;

describe.skipIf(!installed)(`fullmatch verify${installed ? '' : ` (${NO_ANVIL})`}`, () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let service: BootedService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let creationCode: string;
  beforeAll(async () => {
    [testDatabase, anvil, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      createTemporaryFolder(),
    ]);
    const yaml = configOf(anvil);
    service = await bootService({ databaseUrl: testDatabase.url, yaml });
    const input = inputOf({ [PATH]: SOURCE });
    const compiled = await compileAsDeveloper('0.8.37', input, PATH, 'Box');
    creationCode = compiled.creationCode;
    const write = async (name: string, text: string): Promise<void> => {
      const file = path.join(folder.path, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    };
    await write('fullmatch.yaml', yaml);
    await write('input.json', JSON.stringify(input));
    await write('changed.json', JSON.stringify(inputOf({ [PATH]: `${SOURCE}// other\n` })));
    await write(
      'other.json',
      JSON.stringify(inputOf({ [PATH]: SOURCE.replace('= v;', '= 2 * v;') })),
    );
    await write('build-info.json', JSON.stringify({ solcLongVersion: '0.8.37', input }));
    await write('metadata.json', compiled.metadata);
    // Hardhat 3: the compiler gets a different source name from the project's.
    const given = inputOf({ [`project/${PATH}`]: SOURCE });
    const names = { [PATH]: `project/${PATH}` };
    const hardhat3 = { solcLongVersion: '0.8.37', userSourceNameMap: names, input: given };
    await write('hardhat-3.json', JSON.stringify(hardhat3));
    const several = { [PATH]: SOURCE, 'src/Other.sol': 'contract Other {} contract Lid {}' };
    await write('several.json', JSON.stringify(inputOf(several)));
    // Settings that plain sources cannot express.
    await write(
      'abi.json',
      JSON.stringify(inputOf(several, { metadata: { bytecodeHash: 'none' } })),
    );
    await write('apart/metadata.json', compiled.metadata);
    await write('apart/contracts/renamed/Boxes.sol', SOURCE);
    await write('apart/contracts/Box.sol', `${SOURCE}// of another version`);
    await write(PATH, SOURCE);
    await write('out/Box.sol/Box.json', JSON.stringify({ rawMetadata: compiled.metadata }));
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await folder.remove();
    await testDatabase.drop();
  });

  const verify = async (...args: readonly string[]): Promise<CliRun> => {
    const { address } = await deploy(anvil, creationCode);
    return runInProcess(['verify', CHAIN, address, ...args], {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    });
  };
  const here = ['--contract', 'src/Box.sol:Box'];
  const hardhat3Code = async (): Promise<string> => {
    const given = `project/${PATH}`;
    return (await compileAsDeveloper('0.8.37', inputOf({ [given]: SOURCE }), given, 'Box'))
      .creationCode;
  };

  test.each([
    ['a standard JSON input', ['input.json', '--compiler', 'v0.8.37', ...here]],
    ['a Hardhat build info file', ['build-info.json', '--contract', 'Box']],
    ['a metadata.json and its sources', ['metadata.json']],
    ['a Foundry project', ['.', ...here]],
    ['a Foundry project with one contract', ['.']],
    ['a metadata.json whose source has another file name', ['apart/metadata.json']],
    [
      'input with several contracts, one of them on chain',
      ['several.json', '--compiler', '0.8.37'],
    ],
  ])(
    '%s produces the full match, on the database and through a running service',
    async (_what, args) => {
      const direct = await verify(...args, '--json');
      expect(direct.stderr).toBe('');
      expect(direct.exitCode).toBe(0);
      expect(JSON.parse(direct.stdout)).toMatchObject({
        runtimeMatch: 'full',
        creationMatch: 'full',
      });
      const remote = await verify(...args, '--url', `${service.apiUrl}/server/`, '--wait');
      expect(remote).toMatchObject({ exitCode: 0, stderr: '' });
      expect(remote.stdout).toMatch(/runtime +full +identical/);
    },
  );

  test('an already verified contract is reported with its match through a running service', async () => {
    const { address } = await deploy(anvil, creationCode);
    const again = (...more: readonly string[]): Promise<CliRun> =>
      runInProcess(['verify', CHAIN, address, 'metadata.json', '--url', service.apiUrl, ...more], {
        environment: {},
        workingDirectory: folder.path,
      });
    expect(await again('--wait')).toMatchObject({ exitCode: 0 });
    for (const more of [['--wait'], []]) {
      const run = await again(...more);
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      expect(run.stdout).toMatch(/runtime +full +identical/);
      expect(run.stdout).toContain('Nothing was stored');
    }
    expect(JSON.parse((await again('--json')).stdout)).toMatchObject({
      runtimeMatch: 'full',
      stored: false,
    });
  });

  test('a partial match exits 0 and is labelled as partial', async () => {
    const run = await verify('changed.json', '--compiler', '0.8.37', ...here);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toMatch(/runtime +partial +identical, without a matching metadata hash/);
  });

  test.each([[[]], [['--url', 'service', '--wait']]])(
    'exits 6 without a match, and 1 for invalid input (%j)',
    async (more) => {
      const where = more.map((each) => (each === 'service' ? service.apiUrl : each));
      const other = await verify('other.json', '--compiler', '0.8.37', ...here, ...where);
      expect(other.exitCode).toBe(6);
      expect(other.stderr).toContain('error[no_match]');
      const bad = await verify('input.json', '--compiler', '0.8.999', ...here, ...where);
      expect(bad.exitCode).toBe(1);
      expect(bad.stderr).toContain('error[not_verifiable]');
    },
  );

  test('exits 75 if the check was not possible', async () => {
    const nowhere = await closedUrl();
    const args = ['input.json', '--compiler', '0.8.37', ...here, '--url', nowhere];
    expect((await verify(...args)).exitCode).toBe(75);
    await writeFile(path.join(folder.path, 'away.yaml'), configOf({ url: nowhere }));
    const away = await verify(...args.slice(0, 5), '--config', 'away.yaml');
    expect(away.exitCode).toBe(75);
    expect(away.stderr).toContain('error[not_checked]');
  });

  test('a contract in a Hardhat 3 build info is named as in its project', async () => {
    const { address } = await deploy(anvil, await hardhat3Code());
    const run = await runInProcess(
      ['verify', CHAIN, address, 'hardhat-3.json', ...here, '--json'],
      { environment: { DATABASE_URL: testDatabase.url }, workingDirectory: folder.path },
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(run.stdout)).toMatchObject({ runtimeMatch: 'full' });
  });

  test('candidates are listed where the contract is ambiguous', async () => {
    const run = await verify('abi.json', '--compiler', '0.8.37', '--url', service.apiUrl);
    expect(run.exitCode).not.toBe(0);
    expect(run.stderr).toContain('src/Box.sol:Box, src/Other.sol:Other, src/Other.sol:Lid');
  });

  test('validates arguments in order: the chain before the input', async () => {
    const args = ['verify', 'nochain', sampleAddress(1), 'missing.json', '--json'];
    const surroundings = {
      environment: { DATABASE_URL: testDatabase.url },
      workingDirectory: folder.path,
    };
    for (const more of [[], ['--url', service.apiUrl]]) {
      const { exitCode, stdout } = await runInProcess([...args, ...more], surroundings);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/chain_not_found/);
    }
  });

  test('rejects input without anything to verify', async () => {
    for (const input of ['missing.json', 'fullmatch.yaml', 'src']) {
      const run = await verify(input, ...here);
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toContain('error[verification_input_unusable]');
    }
  });

  test('fullmatch compilers list shows the installed compiler and verify finds it intact', async () => {
    const run = (args: readonly string[]): Promise<CliRun> =>
      runInProcess(['compilers', ...args], { workingDirectory: folder.path });
    expect((await run(['list'])).stdout).toContain('0.8.37+commit.');
    expect((await run(['verify'])).exitCode).toBe(0);
    expect((await run(['fetch', '0.8.37'])).stdout).toContain('soljson');
    expect((await run(['fetch', '0.8.999'])).stderr).toContain('unsupported_compiler_version');
  });

  test('fullmatch compilers fetch, bundle and prefetch print JSON and NDJSON', async () => {
    const run = (...args: readonly string[]): Promise<CliRun> =>
      runInProcess(['compilers', ...args], { workingDirectory: folder.path });
    const longVersion = expect.stringMatching(/^0\.8\.37\+commit\./) as string;
    const fetched = await run('fetch', '0.8.37', '--json');
    expect(JSON.parse(fetched.stdout)).toMatchObject([{ longVersion, pinned: true }]);
    const bundled = await run('bundle', 'compilers.tar', '0.8.37', '--ndjson');
    const lines = bundled.stdout.trim().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      longVersion,
      kind: expect.any(String) as string,
    });
    const installed = await run('prefetch', 'compilers.tar', '--json');
    expect(JSON.parse(installed.stdout)).toHaveLength(lines.length);
    expect(JSON.parse(installed.stdout)).toMatchObject(
      lines.map(() => ({ longVersion, fileName: expect.any(String) as string, pinned: true })),
    );
  });
});
