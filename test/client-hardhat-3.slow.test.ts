import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { expectReadableBuildInfos } from './support/clients/read-build-infos.ts';
import { SOLJSON_PATH } from './support/clients/solc-executable.ts';
import {
  GUESTBOOK_ARGUMENTS,
  startGuestbookService,
  type GuestbookService,
} from './support/clients/guestbook-service.ts';

const ARTIFACT = 'artifacts/contracts/Guestbook.sol/Guestbook.json';
const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.skipIf(absence)(
  `Hardhat 3 with its verify plugin${absence ? ` (${absence})` : ''}`,
  () => {
    let service: GuestbookService;
    let project: ClientProject;
    const hardhat = (args: readonly string[], apiUrl = service.apiUrl): Promise<ClientRun> =>
      project.run('hardhat', args, {
        FULLMATCH_URL: apiUrl,
        RPC_URL: service.rpcUrl,
        SOLJSON_PATH,
      });
    const verify = (
      address: string,
      more: readonly string[] = [],
      url?: string,
    ): Promise<ClientRun> =>
      hardhat(
        ['verify', 'sourcify', '--network', 'mychain', ...more, address, ...GUESTBOOK_ARGUMENTS],
        url,
      );
    /** The default profile for verification. */
    const build = (): Promise<ClientRun> => hardhat(['build', '--build-profile', 'production']);
    beforeAll(async () => {
      [service, project] = await Promise.all([
        startGuestbookService(),
        createClientProject('hardhat-3', 'contracts'),
      ]);
      expect(await build()).toMatchObject({ exitCode: 0 });
    }, 400_000);
    afterAll(async () => {
      await project.remove();
      await service.close();
    });

    let address: string;

    test('verifies a contract; stats.json counts it and the printed page shows it', async () => {
      ({ address } = await service.deployGuestbook(await project.readJson(ARTIFACT)));
      const run = await verify(address);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(run.printed).toContain('verified successfully');
      expect(await service.contractAt(address)).toMatchObject({ match: 'exact_match' });
      await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 0 });
      const page = /Explorer: (\S+)/.exec(run.printed)?.[1] ?? '';
      const shown = await (await fetch(page)).text();
      expect(shown).toContain('project/contracts/Guestbook.sol:Guestbook');
      expect(shown).toContain('project/contracts/Owned.sol');
    });

    test('writes build infos that the verify page accepts', () =>
      expectReadableBuildInfos(project, 'project/contracts'));

    test('reports an already verified contract', async () => {
      const run = await verify(address);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(run.printed).toContain('already been verified');
      expect(await service.counts()).toEqual({ full_match: 1, partial_match: 0 });
    });

    test('gets both matches with a creation transaction, below /server', async () => {
      const deployed = await service.deployGuestbook(await project.readJson(ARTIFACT));
      const more = ['--creation-tx-hash', deployed.transactionHash];
      const run = await verify(deployed.address, more, `${service.apiUrl}/server`);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(await service.contractAt(deployed.address)).toMatchObject({
        creationMatch: 'exact_match',
        runtimeMatch: 'exact_match',
      });
      await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 0 });
    });

    test('matches in part after a changed comment and rejects other bytecode', async () => {
      const deployed = await service.deployGuestbook(await project.readJson(ARTIFACT));
      await project.changeComment('Guestbook.sol');
      expect(await build()).toMatchObject({ exitCode: 0 });
      const run = await verify(deployed.address);
      expect(run, run.printed).toMatchObject({ exitCode: 0 });
      expect(await service.contractAt(deployed.address)).toMatchObject({ match: 'match' });
      await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 1 });
      const nothing = await verify('0x00000000000000000000000000000000000000ff');
      expect(nothing.exitCode).not.toBe(0);
      expect(await service.counts()).toEqual({ full_match: 2, partial_match: 1 });
    });
  },
);
