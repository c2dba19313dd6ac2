// Proxies of OpenZeppelin's upgrades plugin, deployed and verified by the plugin itself.
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import {
  type GuestbookService,
  startGuestbookService,
} from './support/clients/guestbook-service.ts';
import { installClient, NO_CLIENTS } from './support/clients/install-client.ts';
import { CLIENTS_SOLC, SOLJSON_PATH } from './support/clients/solc-executable.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

/** Contracts that the plugin deploys for each kind of proxy, besides the implementation. */
const PROXIES = [
  { kind: 'transparent', contracts: ['TransparentUpgradeableProxy', 'ProxyAdmin'] },
  { kind: 'uups', contracts: ['ERC1967Proxy'] },
  { kind: 'beacon', contracts: ['BeaconProxy', 'UpgradeableBeacon'] },
];

describe.skipIf(absence)(
  `the OpenZeppelin upgrades plugin${absence ? ` (${absence})` : ''}`,
  () => {
    let service: GuestbookService;
    let compilers: Awaited<ReturnType<typeof createTemporaryFolder>>;
    beforeAll(async () => {
      compilers = await createTemporaryFolder('fullmatch-upgrades-');
      // The compiler of the proxies, which the plugin ships precompiled.
      const { modules } = await installClient('hardhat-2');
      await symlink(
        path.join(modules, 'solc-0.8.29/soljson.js'),
        path.join(compilers.path, 'soljson-v0.8.29+commit.ab55807c.js'),
      );
      service = await startGuestbookService(`compilers: { folder: ${compilers.path} }\n`);
    }, 400_000);
    afterAll(async () => {
      await service.close();
      await compilers.remove();
    });

    describe.each([
      { client: 'hardhat-2', config: 'upgrades.config.js', profile: [] },
      {
        client: 'hardhat-3',
        config: 'upgrades.config.ts',
        // Verification uses this profile by default.
        profile: ['--build-profile', 'production'],
      },
    ] as const)('in $client', ({ client, config, profile }) => {
      let project: ClientProject;
      let deployed: ReadonlyMap<string, string>;
      const hardhat = (args: readonly string[]): Promise<ClientRun> =>
        project.run('hardhat', ['--config', config, ...args], {
          FULLMATCH_URL: service.apiUrl,
          EXPLORER_URL: `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}`,
          RPC_URL: service.rpcUrl,
          SOLJSON_PATH,
          SOLC_LONG_VERSION: CLIENTS_SOLC.long,
        });
      beforeAll(async () => {
        project = await createClientProject(client, 'upgradeable', 'upgradeable');
        const run = await hardhat([
          ...['run', ...profile, '--network', 'mychain'],
          'scripts/deploy.js',
        ]);
        expect(run, run.printed).toMatchObject({ exitCode: 0 });
        deployed = new Map(
          [...run.printed.matchAll(/^(\w+) (0x\w{40})$/gm)].map(([, kind = '', at = '']) => [
            kind,
            at,
          ]),
        );
      }, 400_000);
      afterAll(() => project.remove());

      test.each(PROXIES)(
        'verifies a $kind proxy and its related contracts',
        async ({ kind, contracts }) => {
          const proxy = deployed.get(kind) ?? '';
          const run = await hardhat(['verify', '--network', 'mychain', proxy]);
          expect(run, run.printed).toMatchObject({ exitCode: 0 });
          for (const contract of contracts)
            expect(run.printed).toContain(`Successfully verified contract ${contract} at`);
          expect(run.printed).toContain('Proxy fully verified.');
          expect(await service.contractAt(proxy)).toMatchObject({
            creationMatch: 'exact_match',
            runtimeMatch: 'exact_match',
          });
        },
      );
    });
  },
);
