// A Vyper project, built, deployed and verified by unmodified forge, which does not send imported files.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import {
  type ClientProject,
  type ClientRun,
  createClientProject,
} from './support/clients/client-project.ts';
import {
  type CompilerMirror,
  NO_MIRROR,
  startCompilerMirror,
} from './support/clients/compiler-mirror.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { CLIENTS_SOLC, writeSolcExecutable } from './support/clients/solc-executable.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import { findVyperBuild, NO_VYPER, VYPER_FOLDER } from './support/vyper-builds.ts';

const FORGE = 'node_modules/@foundry-rs/forge-linux-amd64/bin/forge';
const CONTRACT = 'src/Token.vy:Token';
const SOURCE = `# pragma version ~=0.4.3

supply: public(uint256)

@deploy
def __init__(start: uint256):
    self.supply = start
`;
const absence =
  NO_CLIENTS ?? NO_MIRROR ?? NO_VYPER ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.skipIf(absence)(`forge with Vyper${absence ? ` (${absence})` : ''}`, () => {
  let service: VerifyingService;
  let project: ClientProject;
  let mirror: CompilerMirror;
  const forge = (args: readonly string[]): Promise<ClientRun> =>
    project.run(path.join(project.folder, FORGE), args, mirror.environment);

  beforeAll(async () => {
    [service, project, mirror] = await Promise.all([
      startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`),
      createClientProject('forge', 'src'),
      startCompilerMirror(['0.8.36+commit.00000000', CLIENTS_SOLC.long]),
    ]);
    await writeSolcExecutable(project.home);
    // forge also treats the Vyper version as a solc version to download, but never runs it.
    const solc = path.join(project.home, '.svm/0.4.3/solc-0.4.3');
    await mkdir(path.dirname(solc), { recursive: true });
    await writeFile(solc, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await rm(path.join(project.folder, 'src'), { recursive: true });
    const compiler = `[profile.default.vyper]\npath = "${findVyperBuild('0.4.3')}"\n`;
    await writeFile(path.join(project.folder, 'foundry.toml'), compiler);
    await mkdir(path.join(project.folder, 'src'));
    await writeFile(path.join(project.folder, 'src/Token.vy'), SOURCE);
    const built = await forge(['build']);
    expect(built, built.printed).toMatchObject({ exitCode: 0 });
  }, 400_000);
  afterAll(async () => {
    await mirror.close();
    await project.remove();
    await service.close();
  });

  test.each(['custom', 'blockscout'])(
    'verify-contract --verifier %s ends with a match, with the source under its project path',
    async (verifier) => {
      const created = await forge([
        ...['create', '--broadcast', '--rpc-url', service.anvil.url],
        ...['--unlocked', '--from', service.anvil.account, CONTRACT, '--constructor-args', '7'],
      ]);
      expect(created, created.printed).toMatchObject({ exitCode: 0 });
      const at = (/Deployed to: (0x\w+)/.exec(created.printed)?.[1] ?? '') as Hex;
      const done = await forge([
        ...['verify-contract', '--chain', String(VERIFIED_CHAIN_ID), '--verifier', verifier],
        '--verifier-url',
        `${service.service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/${verifier === 'custom' ? 'etherscan' : verifier}/api`,
        ...['--watch', '--delay', '1', '--retries', '3', at, CONTRACT],
      ]);
      expect(done, done.printed).toMatchObject({ exitCode: 0 });
      expect(done.printed).toContain('Pass - Verified');
      expect(await service.contractAt(at)).toMatchObject({
        ...{ match: 'exact_match', runtimeMatch: 'match' },
        compilation: { language: 'Vyper', fullyQualifiedName: CONTRACT },
        sources: { 'src/Token.vy': { content: SOURCE } },
      });
    },
  );
});
