import { readFile } from 'node:fs/promises';
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
import { verifyOverV2 } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const absence = NO_CLIENTS ?? (findAnvil() === undefined ? NO_ANVIL : undefined);
const PATH = 'contracts/Guestbook.sol';
const SOURCE = 'contract Guestbook { function sign(string calldata name) external {} }';

describe.skipIf(absence)(
  `clients that read from block explorers${absence ? ` (${absence})` : ''}`,
  () => {
    let service: VerifyingService;
    let project: ClientProject;
    let address: string;
    const run = (
      program: string,
      args: readonly string[],
      contract = address,
    ): Promise<ClientRun> =>
      project.run(program, args, {
        EXPLORER_API_URL: `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`,
        CONTRACT: contract,
      });

    beforeAll(async () => {
      [service, project] = await Promise.all([
        startVerifyingService(),
        createClientProject('readers', 'contracts'),
      ]);
      const input = inputOf({ [PATH]: SOURCE });
      const { creationCode } = await compileAsDeveloper('0.8.30', input, PATH, 'Guestbook');
      ({ address } = await deploy(service.anvil, creationCode));
      const job = await verifyOverV2(service.service.apiUrl, address, {
        stdJsonInput: input,
        compilerVersion: '0.8.30',
        contractIdentifier: `${PATH}:Guestbook`,
      });
      expect(job).toMatchObject({ contract: { match: 'exact_match' } });
    }, 400_000);
    afterAll(async () => {
      await project.remove();
      await service.close();
    });

    test('wagmi generates code from an ABI and reports unverified contracts', async () => {
      const generated = await run('wagmi', ['generate', '--config', 'wagmi.config.mjs']);
      expect(generated, generated.printed).toMatchObject({ exitCode: 0 });
      const code = await readFile(path.join(project.folder, 'generated.js'), 'utf8');
      expect(code).toContain("name: 'sign'");
      const nobody = `0x${'ab'.repeat(20)}`;
      const refused = await run('wagmi', ['generate', '--config', 'wagmi.config.mjs'], nobody);
      expect(refused.exitCode).not.toBe(0);
      expect(refused.printed).toContain('Contract source code not verified');
    });

    test('a whatsabi loader reads the ABI and the sources', async () => {
      const read = await run(process.execPath, ['read-contract.mjs']);
      expect(read, read.printed).toMatchObject({ exitCode: 0 });
      expect(JSON.parse(read.printed)).toMatchObject({
        name: 'Guestbook',
        compilerVersion: 'v0.8.30+commit.73712a01',
        abi: [{ name: 'sign' }],
        loaded: [{ name: 'sign' }],
        sources: [{ path: PATH, content: SOURCE }],
      });
    });

    test('the whatsabi Blockscout loader reads the ABI and the sources', async () => {
      const readAt = async (contract: string): Promise<Record<string, unknown>> => {
        const read = await project.run(process.execPath, ['read-blockscout.mjs'], {
          EXPLORER_API_URL: `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout/api`,
          CONTRACT: contract,
        });
        expect(read, read.printed).toMatchObject({ exitCode: 0 });
        return JSON.parse(read.printed) as Record<string, unknown>;
      };
      expect(await readAt(address)).toMatchObject({
        ...{ ok: true, name: 'Guestbook', compilerVersion: 'v0.8.30+commit.73712a01' },
        ...{
          runs: 200,
          evmVersion: 'default',
          abi: [{ name: 'sign' }],
          loaded: [{ name: 'sign' }],
        },
        sources: [{ path: PATH, content: SOURCE }],
      });
      for (const unverified of [service.anvil.account, `0x${'ab'.repeat(20)}`]) {
        expect(await readAt(unverified)).toMatchObject({ ok: false, abi: [], loaded: [] });
      }
    });
  },
);
