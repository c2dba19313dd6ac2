// Unmodified rocketh-verify of @rocketh/verifier, with deployments as rocketh saves them.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import {
  readSettledStatistics,
  startVerifyingService,
  type VerifyingService,
} from './support/verifying-service.ts';

const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);
const PATH = 'contracts/Shelf.sol';
const SOURCE = 'contract Shelf { uint256 public size; constructor(uint256 s) { size = s; } }';
const ARGUMENTS = '9'.padStart(64, '0');

describe.skipIf(absence)(`rocketh-verify${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;
  let project: ClientProject;
  let address: string;
  const verify = (): Promise<ClientRun> =>
    project.run(
      'rocketh-verify',
      [
        ...['-d', 'deployments', '-e', 'mychain', 'blockscout', '--endpoint'],
        `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout/api/v2`,
      ],
      {},
    );

  beforeAll(async () => {
    [service, project] = await Promise.all([
      startVerifyingService(),
      createClientProject('rocketh', 'contracts'),
    ]);
    const input = inputOf({ [PATH]: SOURCE }, { metadata: { useLiteralContent: true } });
    const { creationCode, metadata } = await compileAsDeveloper('0.8.30', input, PATH, 'Shelf');
    ({ address } = await deploy(service.anvil, creationCode, ARGUMENTS));
    const folder = path.join(project.folder, 'deployments/mychain');
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, '.chain'),
      JSON.stringify({ chainId: String(VERIFIED_CHAIN_ID) }),
    );
    const abi = (JSON.parse(metadata) as { output: { abi: unknown } }).output.abi;
    const deployment = { address, abi, metadata, argsData: `0x${ARGUMENTS}` };
    await writeFile(path.join(folder, 'Shelf.json'), JSON.stringify(deployment));
  }, 400_000);
  afterAll(async () => {
    await project.remove();
    await service.close();
  });

  test('blockscout ends with a match and skips the contract the next time', async () => {
    const first = await verify();
    expect(first, first.printed).toMatchObject({ exitCode: 0 });
    expect(first.printed).toContain('contract Shelf verification has started');
    await expect
      .poll(() => service.contractAt(address), { timeout: 60_000 })
      .toMatchObject({ match: 'exact_match', creationMatch: 'exact_match' });
    const counts = JSON.parse(
      await readSettledStatistics(service.service, service.testDatabase.database),
    ) as Record<string, unknown>;
    expect(counts[String(VERIFIED_CHAIN_ID)]).toMatchObject({ full_match: 1 });
    const second = await verify();
    expect(second, second.printed).toMatchObject({ exitCode: 0 });
    expect(second.printed).toContain('already verified: Shelf');
  });
});
