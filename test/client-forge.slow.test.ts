import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compilationOf } from '../src/solidity/detected-compilation.ts';
import { readInputFiles } from '../src/solidity/read-input-files.ts';
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

const FORGE = 'node_modules/@foundry-rs/forge-linux-amd64/bin/forge';
const CONTRACT = 'src/Guestbook.sol:Guestbook';
const absence = NO_CLIENTS ?? NO_MIRROR ?? (findAnvil() === undefined ? NO_ANVIL : undefined);

describe.skipIf(absence)(`forge${absence ? ` (${absence})` : ''}`, () => {
  let service: GuestbookService;
  let project: ClientProject;
  let mirror: CompilerMirror;
  const forge = (args: readonly string[]): Promise<ClientRun> =>
    project.run(path.join(project.folder, FORGE), args, mirror.environment);
  /** forge appends the path to the URL as given, so its users end the URL with a slash. */
  const verify = (
    address: string,
    more: readonly string[] = [],
    url = `${service.apiUrl}/`,
  ): Promise<ClientRun> =>
    forge([
      'verify-contract',
      ...['--verifier', 'sourcify', '--verifier-url', url, '--chain', String(VERIFIED_CHAIN_ID)],
      ...[...more, address, CONTRACT],
    ]);
  const create = async (more: readonly string[] = []): Promise<Created> => {
    const run = await forge([
      'create',
      ...['--json', '--broadcast', '--rpc-url', service.rpcUrl],
      ...['--unlocked', '--from', service.account, ...more],
      ...[CONTRACT, '--constructor-args', ...GUESTBOOK_ARGUMENTS],
    ]);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    return JSON.parse(run.printed) as Created;
  };
  interface Created {
    readonly deployedTo: string;
    readonly transactionHash: string;
  }
  beforeAll(async () => {
    [service, project, mirror] = await Promise.all([
      startGuestbookService(),
      createClientProject('forge', 'src'),
      startCompilerMirror(['0.8.36+commit.00000000', CLIENTS_SOLC.long]),
    ]);
    await writeSolcExecutable(project.home);
    const run = await forge(['build']);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
  }, 400_000);
  afterAll(async () => {
    await mirror.close();
    await project.remove();
    await service.close();
  });

  test('waits for a verification to complete, and stats.json counts it', async () => {
    const { deployedTo } = await create();
    const run = await verify(deployedTo, ['--watch']);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    expect(run.printed).toContain('exact_match');
    expect(await service.contractAt(deployedTo)).toMatchObject({ match: 'exact_match' });
    await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 0 });
  });

  test('writes artifacts that the verify page accepts', async () => {
    const [artifacts, sources] = await Promise.all([
      project.readFolder('out'),
      project.readFolder('src'),
    ]);
    expect(compilationOf(readInputFiles([...artifacts, ...sources]), CONTRACT)).toMatchObject({
      kind: 'metadata',
      contracts: [CONTRACT],
      missing: [],
      compilerVersion: CLIENTS_SOLC.long,
    });
  });

  test('verifies below /server with a creation transaction, then reports it as already verified', async () => {
    const { deployedTo, transactionHash } = await create();
    const url = `${service.apiUrl}/server/`;
    const more = ['--creation-transaction-hash', transactionHash];
    const run = await verify(deployedTo, more, url);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    // Without --watch forge exits once the job is queued.
    await expect
      .poll(() => service.contractAt(deployedTo))
      .toMatchObject({ creationMatch: 'exact_match', runtimeMatch: 'exact_match' });
    await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 0 });
    const again = await verify(deployedTo, ['--watch'], url);
    expect(again, again.printed).toMatchObject({ exitCode: 0 });
    expect(again.printed).toContain('already verified');
    // Without its preliminary check it learns the same from the 409 response.
    const pushed = await verify(deployedTo, ['--skip-is-verified-check'], url);
    expect(pushed, pushed.printed).toMatchObject({ exitCode: 0 });
    expect(await service.counts()).toEqual({ full_match: 2, partial_match: 0 });
  });

  test('matches in part after a changed comment', async () => {
    const { deployedTo } = await create();
    await project.changeComment('Guestbook.sol');
    const run = await verify(deployedTo);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    await expect.poll(() => service.contractAt(deployedTo)).toMatchObject({ match: 'match' });
    await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 1 });
  });

  test('fails with a message when nothing matches', async () => {
    const nothing = '0x00000000000000000000000000000000000000ff';
    const run = await verify(nothing, ['--watch']);
    expect(run.exitCode).not.toBe(0);
    expect(await service.contractAt(nothing)).toMatchObject({ match: null });
  });

  test('makes no internet requests except to the compiler host', () => {
    expect([...mirror.hosts]).toEqual(['binaries.soliditylang.org']);
  });
});
