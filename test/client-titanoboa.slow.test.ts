// titanoboa as it comes, which verifies at a Blockscout.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
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

const TITANOBOA = path.resolve(import.meta.dirname, '../node_modules/.cache/fullmatch-titanoboa');
/** The first account of every anvil. */
const PRIVATE_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const TIMEOUT_MS = 180_000;
const absence = existsSync(path.join(TITANOBOA, 'installed'))
  ? hasVyperBuild('0.4.3')
    ? findAnvil() === undefined
      ? NO_ANVIL
      : undefined
    : 'skipped: no Vyper 0.4.3, run scripts/install-vyper.sh'
  : 'skipped: no titanoboa, run scripts/install-titanoboa.sh';

describe.skipIf(absence)(`titanoboa${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;

  beforeAll(async () => {
    service = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
  }, 120_000);
  afterAll(() => service.close());

  test('verifies a contract in Vyper at a Blockscout, and waits for its match', async () => {
    const home = await createTemporaryFolder('fullmatch-titanoboa-');
    const run = await promisify(execFile)(
      path.join(TITANOBOA, 'bin/python'),
      ['deploy_and_verify.py'],
      {
        cwd: path.join(CLIENTS_FOLDER, 'titanoboa'),
        timeout: TIMEOUT_MS,
        env: {
          ...{ HOME: home.path, PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
          ...{ RPC_URL: service.anvil.url, PRIVATE_KEY },
          EXPLORER_URL: `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout`,
        },
      },
    );
    await home.remove();
    expect(run.stdout).toContain('Smart-contract verification started');
    expect(run.stdout).toContain('Contract verified!');
    const address = run.stdout.trim().split('\n').at(-1) ?? '';
    const contract = await service.contractAt(address);
    expect(contract).toMatchObject({
      creationMatch: expect.stringMatching(/match$/) as string,
      compilation: { language: 'Vyper', name: 'Shelf' },
    });
    const counts = JSON.parse(
      await readSettledStatistics(service.service, service.testDatabase.database),
    ) as Record<string, unknown>;
    expect(counts).toHaveProperty(String(VERIFIED_CHAIN_ID));
  }, 240_000);
});
