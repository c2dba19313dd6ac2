import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import {
  GUESTBOOK_ARGUMENTS,
  type GuestbookService,
  startGuestbookService,
} from './support/clients/guestbook-service.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { expectReadableBuildInfos } from './support/clients/read-build-infos.ts';
import { CLIENTS_SOLC, SOLJSON_PATH } from './support/clients/solc-executable.ts';

const ARTIFACT = 'artifacts/contracts/Guestbook.sol/Guestbook.json';
const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.skipIf(absence)(
  `Hardhat 2 with its verify plugin${absence ? ` (${absence})` : ''}`,
  () => {
    let service: GuestbookService;
    let project: ClientProject;
    const hardhat = (args: readonly string[], apiUrl = service.apiUrl): Promise<ClientRun> =>
      project.run('hardhat', args, {
        FULLMATCH_URL: apiUrl,
        FULLMATCH_REPOSITORY_URL: service.repositoryUrl,
        RPC_URL: service.rpcUrl,
        SOLJSON_PATH,
        SOLC_LONG_VERSION: CLIENTS_SOLC.long,
      });
    const verify = (address: string, apiUrl?: string): Promise<ClientRun> =>
      hardhat(['verify', '--network', 'mychain', address, ...GUESTBOOK_ARGUMENTS], apiUrl);
    const deploy = async (): Promise<string> =>
      (await service.deployGuestbook(await project.readJson(ARTIFACT))).address;
    beforeAll(async () => {
      [service, project] = await Promise.all([
        startGuestbookService(),
        createClientProject('hardhat-2', 'contracts'),
      ]);
      expect(await hardhat(['compile'])).toMatchObject({ exitCode: 0 });
    }, 400_000);
    afterAll(async () => {
      await project.remove();
      await service.close();
    });

    let address: string;

    test('verifies a contract over API v1; stats.json counts it and the printed page lists it', async () => {
      address = await deploy();
      const run = await verify(address);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(await service.contractAt(address)).toMatchObject({ match: 'exact_match' });
      await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 0 });
      const page = /^http\S+\/contracts\/full_match\/\S+$/m.exec(run.printed)?.[0] ?? '';
      const { files } = (await (await fetch(page)).json()) as { files: { path: string }[] };
      const paths = files.map(({ path }) => path);
      expect(paths).toContain('metadata.json');
      expect(paths).toContain('sources/contracts/Owned.sol');
    });

    test('writes build infos that the verify page accepts', () =>
      expectReadableBuildInfos(project, 'contracts'));

    test('reports an already verified contract', async () => {
      const run = await verify(address);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(run.printed).toContain('already been verified');
      expect(await service.counts()).toEqual({ full_match: 1, partial_match: 0 });
    });

    test('verifies below /server too', async () => {
      const run = await verify(await deploy(), `${service.apiUrl}/server`);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 0 });
    });

    test('matches in part after a changed comment and rejects other bytecode', async () => {
      const deployed = await deploy();
      await project.changeComment('Owned.sol');
      expect(await hardhat(['compile'])).toMatchObject({ exitCode: 0 });
      const run = await verify(deployed);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(run.printed).toContain('/contracts/partial_match/');
      expect(await service.contractAt(deployed)).toMatchObject({ match: 'match' });
      await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 1 });
      const nothing = await verify('0x00000000000000000000000000000000000000ff');
      expect(nothing.exitCode).not.toBe(0);
      expect(await service.counts()).toEqual({ full_match: 2, partial_match: 1 });
    });
  },
);
