import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
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
import { CLIENTS_SOLC, SOLJSON_PATH } from './support/clients/solc-executable.ts';

const ARTIFACT = 'artifacts/contracts/Guestbook.sol/Guestbook.json';
/** Client output for a status that is not a verdict. */
const REASON = { 'hardhat-2': /checked manually/, 'hardhat-3': /endpoint|chain|reach|read/i };
const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.each([
  {
    client: 'hardhat-2',
    provider: 'etherscan',
    build: ['compile'],
    source: 'Owned.sol',
    command: ['verify', '--network', 'mychain'],
  },
  {
    client: 'hardhat-3',
    provider: 'etherscan',
    build: ['build', '--build-profile', 'production'],
    source: 'Guestbook.sol',
    command: ['verify', 'etherscan', '--network', 'mychain'],
  },
  {
    client: 'hardhat-3',
    provider: 'blockscout',
    build: ['build', '--build-profile', 'production'],
    source: 'Guestbook.sol',
    command: ['verify', 'blockscout', '--network', 'mychain'],
  },
] as const)(
  '$client with its provider $provider',
  ({ client, build, source, command, provider }) => {
    describe.skipIf(absence)(absence ?? 'unmodified', () => {
      let service: GuestbookService;
      let project: ClientProject;
      let address: string;
      const hardhat = (args: readonly string[], more: object = {}): Promise<ClientRun> =>
        project.run('hardhat', args, {
          FULLMATCH_URL: service.apiUrl,
          EXPLORER_URL: `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}`,
          RPC_URL: service.rpcUrl,
          SOLJSON_PATH,
          SOLC_LONG_VERSION: CLIENTS_SOLC.long,
          ...more,
        });
      const verify = (at: string): Promise<ClientRun> =>
        hardhat([...command, at, ...GUESTBOOK_ARGUMENTS]);
      const deploy = async (): Promise<string> =>
        (await service.deployGuestbook(await project.readJson(ARTIFACT))).address;

      beforeAll(async () => {
        [service, project] = await Promise.all([
          startGuestbookService(),
          createClientProject(client, 'contracts'),
        ]);
        const built = await hardhat(build);
        expect(built, built.printed).toMatchObject({ exitCode: 0 });
        address = await deploy();
      }, 400_000);
      afterAll(async () => {
        await project.remove();
        await service.close();
      });

      test('verifies a contract; stats.json counts it and the printed page shows it', async () => {
        const run = await verify(address);
        expect(run, run.printed).toMatchObject({ exitCode: 0 });
        expect(await service.contractAt(address)).toMatchObject({
          runtimeMatch: 'exact_match',
          creationMatch: 'exact_match',
        });
        await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 0 });
        const link = /(http\S+\/address\/0x\w+)/.exec(run.printed)?.[1] ?? '';
        expect((await fetch(link)).url).toContain(`/contract/${VERIFIED_CHAIN_ID}/`);
      });

      test('reports an already verified contract', async () => {
        const run = await verify(address);
        expect(run, run.printed).toMatchObject({ exitCode: 0 });
        expect(run.printed).toMatch(/already (?:been )?verified/i);
        expect(await service.counts()).toEqual({ full_match: 1, partial_match: 0 });
      });

      test('matches in part after a changed comment and prints that other bytecode does not match', async () => {
        const deployed = await deploy();
        const other = await service.deployGuestbook({
          ...(await project.readJson<Parameters<typeof service.deployGuestbook>[0]>(ARTIFACT)),
          bytecode: '0x6001600c60003960016000f300',
        });
        await project.changeComment(source);
        const built = await hardhat(build);
        expect(built, built.printed).toMatchObject({ exitCode: 0 });
        const run = await verify(deployed);
        expect(run, run.printed).toMatchObject({ exitCode: 0 });
        expect(await service.contractAt(deployed)).toMatchObject({ match: 'match' });
        const refused = await hardhat([
          ...command,
          ...['--contract', 'contracts/Guestbook.sol:Guestbook'],
          ...[other.address, ...GUESTBOOK_ARGUMENTS],
        ]);
        expect(refused.exitCode).not.toBe(0);
        expect(refused.printed, provider).not.toContain('polling failed');
        await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 1 });
      });

      test('reports a failed check instead of a mismatch while the node is down', async () => {
        const blind = await startGuestbookService('', { isNodeDown: true });
        const run = await hardhat([...command, address, ...GUESTBOOK_ARGUMENTS], {
          FULLMATCH_URL: blind.apiUrl,
          EXPLORER_URL: `${blind.apiUrl}/evm/${VERIFIED_CHAIN_ID}`,
        });
        await blind.close();
        expect(run.exitCode).not.toBe(0);
        expect(run.printed).not.toContain('Unable to verify');
        expect(run.printed).toMatch(REASON[client]);
      });
    });
  },
);
