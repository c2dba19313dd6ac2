// Unmodified titanoboa and moccasin, which verify contracts through Blockscout's API.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { CLIENTS_FOLDER } from './support/clients/install-client.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import {
  readSettledStatistics,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';
import { hasVyperBuild, VYPER_FOLDER } from './support/vyper-builds.ts';

const PROGRAMS = path.resolve(
  import.meta.dirname,
  '../node_modules/.cache/fullmatch-python-clients',
);
/** The first account of every anvil. */
const PRIVATE_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const TIMEOUT_MS = 180_000;
const absence = existsSync(path.join(PROGRAMS, 'installed'))
  ? hasVyperBuild('0.4.3')
    ? findAnvil() === undefined
      ? NO_ANVIL
      : undefined
    : 'skipped: no Vyper 0.4.3, run scripts/install-vyper.sh'
  : 'skipped: no titanoboa and moccasin, run scripts/install-python-clients.sh';

describe.skipIf(absence)(`Python clients${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;

  beforeAll(async () => {
    service = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
  }, 120_000);
  afterAll(() => service.close());

  /** Runs a program in a copy of a client's project with its own files and home; returns its output. */
  const run = async (
    project: 'moccasin' | 'titanoboa',
    program: 'mox' | 'python',
    parameters: readonly string[],
  ): Promise<string> => {
    const home = await createTemporaryFolder(`fullmatch-${project}-`);
    const cwd = path.join(home.path, project);
    await cp(path.join(CLIENTS_FOLDER, project), cwd, { recursive: true });
    const { stdout } = await promisify(execFile)(path.join(PROGRAMS, 'bin', program), parameters, {
      ...{ cwd, timeout: TIMEOUT_MS },
      env: {
        ...{ HOME: home.path, PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
        ...{ RPC_URL: service.anvil.url, PRIVATE_KEY },
        EXPLORER_URL: `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout`,
      },
    });
    await home.remove();
    return stdout;
  };
  const expectVerified = async (stdout: string): Promise<void> => {
    expect(stdout).toContain('Smart-contract verification started');
    expect(stdout).toContain('Contract verified!');
    const address = stdout.trim().split('\n').at(-1) ?? '';
    expect(await service.contractAt(address)).toMatchObject({
      creationMatch: expect.stringMatching(/match$/) as string,
      compilation: { language: 'Vyper', name: 'Shelf' },
    });
    const counts = JSON.parse(
      await readSettledStatistics(service.service, service.testDatabase.database),
    ) as Record<string, unknown>;
    expect(counts).toHaveProperty(String(VERIFIED_CHAIN_ID));
  };

  test('titanoboa verifies a Vyper contract and waits for the match', async () => {
    await expectVerified(await run('titanoboa', 'python', ['deploy_and_verify.py']));
  }, 240_000);

  test('moccasin verifies what a script deploys at the Blockscout of its configuration', async () => {
    const parameters = ['run', '--network', 'local', '--private-key', PRIVATE_KEY, '--no-install'];
    await expectVerified(await run('moccasin', 'mox', [...parameters, 'deploy_and_verify']));
  }, 240_000);
});
