// Proxies of OpenZeppelin's upgrades plugin, deployed and verified by the plugin itself.
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil, NO_ANVIL } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import {
  type GuestbookService,
  startGuestbookService,
} from './support/clients/guestbook-service.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { CLIENTS_SOLC, SOLJSON_PATH } from './support/clients/solc-executable.ts';
import { VERIFIED_CHAIN_ID } from './support/verification-fixture.ts';

const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.skipIf(absence)(
  `the upgrades plugin of OpenZeppelin in Hardhat 2${absence ? ` (${absence})` : ''}`,
  () => {
    let service: GuestbookService;
    let project: ClientProject;
    const hardhat = (
      args: readonly string[],
      environment: Readonly<Record<string, string>> = {},
    ): Promise<ClientRun> =>
      project.run('hardhat', args, {
        EXPLORER_URL: `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}`,
        RPC_URL: service.rpcUrl,
        SOLJSON_PATH,
        SOLC_LONG_VERSION: CLIENTS_SOLC.long,
        ...environment,
      });
    beforeAll(async () => {
      project = await createClientProject('hardhat-2-upgrades', 'contracts');
      // The compiler of the proxies that the plugin deploys.
      const compilers = path.join(project.home, 'compilers');
      await mkdir(compilers);
      await symlink(
        path.join(project.folder, 'node_modules/solc-0.8.29/soljson.js'),
        path.join(compilers, 'soljson-v0.8.29+commit.ab55807c.js'),
      );
      service = await startGuestbookService(`compilers: { folder: ${compilers} }\n`);
      const compiled = await hardhat(['compile']);
      expect(compiled, compiled.printed).toMatchObject({ exitCode: 0 });
    }, 400_000);
    afterAll(async () => {
      await project.remove();
      await service.close();
    });

    test.each(['transparent', 'uups', 'beacon'])(
      'verifies a %s proxy with all that belongs to it',
      async (kind) => {
        const deployed = await hardhat(['run', '--network', 'mychain', 'scripts/deploy.js'], {
          KIND: kind,
        });
        expect(deployed, deployed.printed).toMatchObject({ exitCode: 0 });
        const [, proxy = ''] = /^proxy (0x\w{40})$/m.exec(deployed.printed) ?? [];
        const run = await hardhat(['verify', '--network', 'mychain', proxy]);
        expect(run, run.printed).toMatchObject({ exitCode: 0 });
        expect(run.printed).toContain('Proxy fully verified.');
        expect(await service.contractAt(proxy)).toMatchObject({
          runtimeMatch: expect.stringContaining('match') as string,
        });
      },
    );
  },
);
