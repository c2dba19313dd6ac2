import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import {
  GUESTBOOK_ARGUMENTS,
  type GuestbookService,
  startGuestbookService,
} from './support/clients/guestbook-service.ts';
import { NO_CLIENTS } from './support/clients/install-client.ts';
import { CLIENTS_SOLC, writeSolcExecutable } from './support/clients/solc-executable.ts';

const CONTRACT = 'src/Guestbook.sol:Guestbook';
const absence = NO_CLIENTS ?? NO_MIRROR ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

const SCRIPT = `pragma solidity ^0.8.0;
import { Guestbook } from "../src/Guestbook.sol";
interface Vm { function startBroadcast() external; }
contract Deploy {
  function run() external {
    Vm(address(uint160(uint256(keccak256("hevm cheat code"))))).startBroadcast();
    new Guestbook("${GUESTBOOK_ARGUMENTS[0].replace('ê', 'e')}", ${GUESTBOOK_ARGUMENTS[1]});
  }
}
`;

describe.skipIf(absence)(
  `forge and cast with the Etherscan protocol${absence ? ` (${absence})` : ''}`,
  () => {
    let service: GuestbookService;
    let project: ClientProject;
    let mirror: CompilerMirror;
    const chain = ['--chain', String(VERIFIED_CHAIN_ID)];
    const run = (
      name: 'forge' | 'cast',
      args: readonly string[],
      environment: Readonly<Record<string, string>> = {},
    ): Promise<ClientRun> =>
      project.run(
        path.join(project.folder, `node_modules/@foundry-rs/${name}-linux-amd64/bin/${name}`),
        args,
        { ...mirror.environment, ...environment },
      );
    const apiUrl = (): string => `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`;
    /** Service settings passed to forge. */
    const verifiers: Readonly<Record<string, () => readonly string[]>> = {
      custom: () => [...['--verifier', 'custom', '--verifier-url'], apiUrl()],
      blockscout: () => [
        ...['--verifier', 'blockscout', '--verifier-url'],
        `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout/api/`,
      ],
      etherscan: () => [
        ...['--verifier', 'etherscan', '--verifier-url'],
        `${service.apiUrl}/v2/api?chainid=${VERIFIED_CHAIN_ID}`,
      ],
    };
    /** Explorer of a chain that forge does not know, with its key and API URL. */
    const nameExplorer = async (): Promise<void> => {
      const toml = path.join(project.folder, 'foundry.toml');
      const explorer = `{ key = "any", url = "${apiUrl()}", chain = ${VERIFIED_CHAIN_ID} }`;
      const text = await readFile(toml, 'utf8');
      await writeFile(toml, `${text}\n[etherscan]\nmychain = ${explorer}\n`);
    };
    /** forge clones a library into each new project; git resolves it locally instead of at GitHub. */
    const provideLibrary = async (): Promise<void> => {
      const library = path.join(project.home, 'forge-std');
      await mkdir(library);
      const git = (...args: string[]): unknown =>
        execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args], {
          ...{
            cwd: library,
            stdio: 'pipe',
            env: { PATH: process.env['PATH'], HOME: project.home },
          },
        });
      git('init', '--quiet');
      git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
      const instead = `[url "file://${library}"]\n  insteadOf = https://github.com/foundry-rs/forge-std\n`;
      await writeFile(path.join(project.home, '.gitconfig'), instead);
    };
    const create = async (more: readonly string[] = []): Promise<ClientRun & { at: string }> => {
      const created = await run('forge', [
        ...['create', '--broadcast', '--rpc-url', service.rpcUrl],
        ...['--unlocked', '--from', service.account, ...more],
        ...[CONTRACT, '--constructor-args', ...GUESTBOOK_ARGUMENTS],
      ]);
      expect(created, created.printed).toMatchObject({ exitCode: 0 });
      return { ...created, at: /Deployed to: (0x\w+)/.exec(created.printed)?.[1] ?? '' };
    };
    const verify = (
      address: string,
      verifier: string,
      more: readonly string[] = [],
    ): Promise<ClientRun> =>
      run('forge', [
        ...['verify-contract', ...chain, ...(verifiers[verifier]?.() ?? [])],
        ...['--watch', '--delay', '1', '--retries', '3', ...more, address, CONTRACT],
      ]);
    let verified: string;

    beforeAll(async () => {
      [service, project, mirror] = await Promise.all([
        startGuestbookService(),
        createClientProject('forge', 'src'),
        startCompilerMirror(['0.8.36+commit.00000000', CLIENTS_SOLC.long]),
      ]);
      await writeSolcExecutable(project.home);
      const built = await run('forge', ['build']);
      expect(built, built.printed).toMatchObject({ exitCode: 0 });
    }, 400_000);
    afterAll(async () => {
      await mirror.close();
      await project.remove();
      await service.close();
    });

    test.each(['custom', 'blockscout', 'etherscan'])(
      'verify-contract --verifier %s waits for a verification, then reports it as already verified',
      async (verifier) => {
        // forge only requires a key for Etherscan itself.
        if (verifier === 'etherscan') await nameExplorer();
        const { at } = await create();
        const done = await verify(at, verifier);
        expect(done, done.printed).toMatchObject({ exitCode: 0 });
        expect(done.printed).toContain('Pass - Verified');
        expect(await service.contractAt(at)).toMatchObject({ match: 'exact_match' });
        const again = await verify(at, verifier);
        expect(again, again.printed).toMatchObject({ exitCode: 0 });
        expect(again.printed).toContain('is already verified');
        const pushed = await verify(at, verifier, ['--skip-is-verified-check']);
        expect(pushed, pushed.printed).toMatchObject({ exitCode: 0 });
        expect(pushed.printed).toContain('already verified');
        verified = at;
        if (verifier === 'etherscan') return;
        const link = /URL: (\S+)/.exec(done.printed)?.[1] ?? '';
        const page = await fetch(link);
        expect(page.url.toLowerCase()).toContain(
          `/contract/${VERIFIED_CHAIN_ID}/${at.toLowerCase()}`,
        );
      },
    );

    test('create --verify and script --verify verify what they deploy', async () => {
      const created = await create(['--verify', ...(verifiers['custom']?.() ?? [])]);
      expect(created.printed).toContain('Pass - Verified');
      await mkdir(path.join(project.folder, 'script'));
      await writeFile(path.join(project.folder, 'script/Deploy.s.sol'), SCRIPT);
      const scripted = await run('forge', [
        ...['script', 'script/Deploy.s.sol:Deploy', '--broadcast', '--rpc-url', service.rpcUrl],
        ...['--unlocked', '--sender', service.account, ...chain],
        ...['--verify', ...(verifiers['blockscout']?.() ?? []), '--delay', '1'],
      ]);
      expect(scripted, scripted.printed).toMatchObject({ exitCode: 0 });
      expect(scripted.printed).toContain('All (1) contracts were verified!');
    });

    test('verify-contract --flatten submits a single file', async () => {
      const { at } = await create();
      const done = await verify(at, 'custom', ['--flatten', '--force']);
      expect(done, done.printed).toMatchObject({ exitCode: 0 });
      expect(await service.contractAt(at)).toMatchObject({ match: 'match' });
    });

    test('verify-contract --guess-constructor-args finds the arguments of an unverified contract', async () => {
      const { at } = await create();
      const guessing = ['--guess-constructor-args', '--rpc-url', service.rpcUrl];
      const done = await verify(at, 'custom', guessing);
      expect(done, done.printed).toMatchObject({ exitCode: 0 });
      expect(await service.contractAt(at)).toMatchObject({ match: 'exact_match' });
    });

    test('prints why a contract does not match and fails', async () => {
      const other = await run('cast', [
        ...['send', '--rpc-url', service.rpcUrl, '--unlocked', '--from', service.account],
        ...['--create', '0x6001600c60003960016000f300'],
      ]);
      const at = /contractAddress\s+(0x\w+)/.exec(other.printed)?.[1] ?? '';
      for (const verifier of ['custom', 'blockscout']) {
        const failed = await verify(at, verifier);
        expect(failed.exitCode).not.toBe(0);
        expect(failed.printed).toContain('ytecode on chain');
      }
    });

    const FORK = `
contract Fork is Guestbook {
    constructor() Guestbook("fork", 1) {}
    function more() external pure returns (uint256) { return 1; }
}
`;
    test.each<{
      readonly what: string;
      readonly printed: RegExp;
      readonly edit?: (source: string) => string;
      readonly runs?: string;
      readonly contract?: string;
    }>([
      { what: 'settings', printed: /Matches with the optimizer on \(200 runs\)/, runs: '7' },
      {
        what: 'contract',
        printed: /Matches as Guestbook \(src\/Guestbook\.sol:Guestbook\)/,
        edit: (source) => source + FORK,
        contract: 'src/Guestbook.sol:Fork',
      },
      {
        what: 'line',
        printed: /Differs in sign, src\/Guestbook\.sol:2[01]; your sources compile to [\d,]+ bytes/,
        edit: (source) => source.replace('place < limit', 'place < limit + 1'),
      },
    ])('prints which $what to change', async ({ printed, edit, runs, contract = CONTRACT }) => {
      const { at } = await create();
      const file = path.join(project.folder, 'src/Guestbook.sol');
      const source = await readFile(file, 'utf8');
      try {
        if (edit !== undefined) await writeFile(file, edit(source));
        const environment = runs === undefined ? {} : { FOUNDRY_OPTIMIZER_RUNS: runs };
        const built = await run('forge', ['build'], environment);
        expect(built, built.printed).toMatchObject({ exitCode: 0 });
        const failed = await run(
          'forge',
          [
            ...['verify-contract', ...chain, ...(verifiers['custom']?.() ?? [])],
            ...['--watch', '--delay', '1', '--retries', '1', at, contract],
          ],
          environment,
        );
        expect(failed.exitCode).not.toBe(0);
        expect(failed.printed).toMatch(printed);
      } finally {
        await writeFile(file, source);
      }
    });

    test('cast and forge clone read a verified contract', async () => {
      const blockscout = `${service.apiUrl}/evm/${VERIFIED_CHAIN_ID}/blockscout/api`;
      for (const url of [apiUrl(), blockscout]) {
        const explorer = ['--explorer-api-url', url, '--explorer-url', service.apiUrl];
        const source = await run('cast', ['source', ...chain, ...explorer, verified]);
        expect(source, source.printed).toMatchObject({ exitCode: 0 });
        expect(source.printed).toContain('contract Guestbook');
      }
      const abi = await run('cast', ['interface', ...chain, verified]);
      expect(abi, abi.printed).toMatchObject({ exitCode: 0 });
      expect(abi.printed).toContain('interface Guestbook');
      const rpc = ['--rpc-url', service.rpcUrl];
      const code = await run('cast', ['creation-code', ...chain, ...rpc, verified]);
      expect(code, code.printed).toMatchObject({ exitCode: 0 });
      expect(code.printed).toMatch(/0x60[0-9a-f]{200}/);
      await provideLibrary();
      const cloned = await run('forge', ['clone', ...chain, '--no-git', verified, 'cloned']);
      expect(cloned, cloned.printed).toMatchObject({ exitCode: 0 });
      const kept = await project.readJson<Record<string, unknown>>('cloned/.clone.meta');
      expect(kept).toMatchObject({ targetContract: 'Guestbook', chainId: VERIFIED_CHAIN_ID });
    });
  },
);
