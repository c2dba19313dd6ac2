import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compilationOf, readInputFiles } from '../src/solidity/read-input-files.ts';
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
  /** forge writes the path of the interface behind the URL as it stands, so its users end the URL with a slash. */
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

  test('watches a verification to its end, which stats.json counts', async () => {
    const { deployedTo } = await create();
    const run = await verify(deployedTo, ['--watch']);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    expect(run.printed).toContain('exact_match');
    expect(await service.contractAt(deployedTo)).toMatchObject({ match: 'exact_match' });
    await expect.poll(service.counts).toEqual({ full_match: 1, partial_match: 0 });
  });

  test('writes artifacts that the page to verify reads', async () => {
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

  test('verifies below /server with the creation transaction, and learns then that it is verified', async () => {
    const { deployedTo, transactionHash } = await create();
    const url = `${service.apiUrl}/server/`;
    const more = ['--creation-transaction-hash', transactionHash];
    const run = await verify(deployedTo, more, url);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    // Without --watch forge leaves when the job is in the queue.
    await expect
      .poll(() => service.contractAt(deployedTo))
      .toMatchObject({ creationMatch: 'exact_match', runtimeMatch: 'exact_match' });
    await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 0 });
    const again = await verify(deployedTo, ['--watch'], url);
    expect(again, again.printed).toMatchObject({ exitCode: 0 });
    expect(again.printed).toContain('already verified');
    // Asked not to look first, it learns the same of the answer 409.
    const pushed = await verify(deployedTo, ['--skip-is-verified-check'], url);
    expect(pushed, pushed.printed).toMatchObject({ exitCode: 0 });
    expect(await service.counts()).toEqual({ full_match: 2, partial_match: 0 });
  });

  test('verifies partially after a comment has changed', async () => {
    const { deployedTo } = await create();
    await project.changeComment('Guestbook.sol');
    const run = await verify(deployedTo);
    expect(run, run.printed).toMatchObject({ exitCode: 0 });
    await expect.poll(() => service.contractAt(deployedTo)).toMatchObject({ match: 'match' });
    await expect.poll(service.counts).toEqual({ full_match: 2, partial_match: 1 });
  });

  test('says so and fails when there is no match', async () => {
    const nothing = '0x00000000000000000000000000000000000000ff';
    const run = await verify(nothing, ['--watch']);
    expect(run.exitCode).not.toBe(0);
    expect(await service.contractAt(nothing)).toMatchObject({ match: null });
  });

  test('asks of the internet only where the compilers are', () => {
    expect([...mirror.hosts]).toEqual(['binaries.soliditylang.org']);
  });
});
